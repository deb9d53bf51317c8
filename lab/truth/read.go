package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// draw is what a reader judges by hand: some of the first three rows of cases, drawn by a word.
type draw struct {
	file, seed string
	most       int
	rows       []toRead
}

// toRead is one row of advice beside where its benchmark is. The reader fills in the verdict. What people
// changed in that module is left out: a row is right or wrong by the source, not by the fix.
type toRead struct {
	Case    string `json:"case"`
	Module  string `json:"module"`
	Version string `json:"version"`
	Bench   string `json:"bench"`
	Rank    int    `json:"rank"`
	said
	Verdict string `json:"verdict"` // right, wrong or impossible
	Why     string `json:"why"`
}

// add takes the rows of a case that name a cure, but not those that the case itself judges.
func (d *draw) add(c corpus.Case, r row, train bool) {
	for i, s := range r.First {
		if train {
			s = s.rated()
		}
		if s.Code != "leave-it" && !(train && s.Hit) {
			d.rows = append(d.rows, toRead{Case: c.ID, Module: c.Module, Version: cmp.Or(c.Before, c.Version), Bench: c.Bench, Rank: i + 1, said: s})
		}
	}
}

// drawn are the rows to read, in the order in which they are drawn.
func (d *draw) drawn() []toRead {
	by := func(r toRead) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", d.seed, r.Case, r.Rank))
		return string(sum[:])
	}
	out := slices.Clone(d.rows)
	slices.SortFunc(out, func(a, b toRead) int { return cmp.Compare(by(a), by(b)) })
	return out[:min(len(out), d.most)]
}

// readVerdicts are the rows of a file with the verdicts of a reader; none without a file.
func readVerdicts(name string) ([]toRead, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []toRead
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, r := range out {
		switch r.Verdict {
		case "right", "wrong", "impossible":
		default:
			return nil, fmt.Errorf("%s: row %d of %s has the verdict %q", name, r.Rank, r.Case, r.Verdict)
		}
	}
	return out, nil
}

func (d *draw) write() error { return writeJSON(d.file, d.drawn()) }
