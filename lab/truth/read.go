package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
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

// add takes the rows of a case that name a cure.
func (d *draw) add(c corpus.Case, r row) {
	for i, s := range r.First {
		if s.Code != "leave-it" {
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

func (d *draw) write() error { return writeJSON(d.file, d.drawn()) }
