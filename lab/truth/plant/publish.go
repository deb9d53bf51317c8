package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// A list takes no more of a mutator than one of mutatorShare, and of a module than one of
// moduleShare.
const (
	mutatorShare = 14
	moduleShare  = 20
)

// publish writes the cases of all journals to two lists: those of train to
// NAME.train.json, those of validation to NAME.validation.json. Repositories that known names, one
// a line, are train.
func publish(dir, name, known string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*", "tried.jsonl"))
	if err != nil {
		return err
	}
	train, err := words(known)
	if err != nil {
		return err
	}
	var byModule [][]corpus.Case
	seen := map[string]bool{}
	for _, at := range names {
		j, err := open(at)
		if err != nil {
			return err
		}
		var of []corpus.Case
		for _, t := range j.rows {
			if t.Case == nil {
				continue
			}
			same := fmt.Sprint(t.Case.Module, t.Case.Planted.Edits)
			if !seen[t.Case.ID] && !seen[same] {
				seen[t.Case.ID], seen[same] = true, true
				of = append(of, placed(*t.Case, train))
			}
		}
		byModule = append(byModule, of)
	}
	lists := map[string][]corpus.Case{"train": nil, "validation": nil}
	for _, c := range balanced(byModule) {
		split := "train"
		if c.Validation() {
			split = "validation"
		}
		lists[split] = append(lists[split], c)
	}
	for split, list := range lists {
		if err := save(name+"."+split+".json", list); err != nil {
			return err
		}
		log.Printf("%s: %d cases", split, len(list))
	}
	return nil
}

// words reads a list of one word a line.
func words(name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		if w := strings.Fields(s.Text()); len(w) == 1 && w[0] != "#" {
			out = append(out, w[0])
		}
	}
	return out, nil
}

// placed is a case with its split, where the name of its repository does not tell it, and its
// part of validation.
func placed(c corpus.Case, train []string) corpus.Case {
	if slices.Contains(train, c.Repository()) && c.Validation() {
		c.Split = "train"
	}
	if c.Validation() {
		c.Part = "scored"
		if sum := sha256.Sum256([]byte(c.Repository())); sum[1] >= 128 {
			c.Part = "read"
		}
	}
	return c
}

// save writes a list, a case a line.
func save(name string, list []corpus.Case) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	text.WriteString("[\n")
	for i, c := range list {
		if i > 0 {
			text.Truncate(text.Len() - 1)
			text.WriteString(",\n")
		}
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	text.WriteString("]\n")
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// balanced takes cases in turns from all modules, those of the rarest mutator first, as long as no
// mutator and no module has more than its share.
func balanced(byModule [][]corpus.Case) []corpus.Case {
	of, total := map[string]int{}, 0
	for _, cases := range byModule {
		total += len(cases)
		for _, c := range cases {
			of[c.Planted.Mutator]++
		}
	}
	for ; ; total-- {
		out := chosen(byModule, of, total)
		if len(out) >= total {
			return out
		}
	}
}

// chosen takes cases within the shares of a list of total cases.
func chosen(byModule [][]corpus.Case, of map[string]int, total int) []corpus.Case {
	var out []corpus.Case
	taken := map[string]int{}
	rest := make([][]corpus.Case, len(byModule))
	for i, cases := range byModule {
		rest[i] = slices.Clone(cases)
		slices.SortStableFunc(rest[i], func(a, b corpus.Case) int { return of[a.Planted.Mutator] - of[b.Planted.Mutator] })
	}
	for turn := 0; turn*moduleShare < total; turn++ {
		for i, cases := range rest {
			k := slices.IndexFunc(cases, func(c corpus.Case) bool {
				return (taken[c.Planted.Mutator]+1)*mutatorShare <= total
			})
			if k < 0 {
				continue
			}
			taken[cases[k].Planted.Mutator]++
			out = append(out, cases[k])
			rest[i] = slices.Delete(cases, k, k+1)
		}
	}
	slices.SortStableFunc(out, func(a, b corpus.Case) int { return strings.Compare(a.Module, b.Module) })
	return out
}
