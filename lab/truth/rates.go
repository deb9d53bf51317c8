package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/format"
	"os"
	"slices"
	"time"
)

// tally counts how often a rule was right.
type tally struct {
	code, rule   string
	right, named int
	modules      map[string]bool
}

// tallies counts the rules that named a cure in the first rows of train: at the place that was
// changed, where the kind of cure is known, on controls, where each is wrong, and elsewhere where a
// reader judged it.
func tallies(rows []row, read []toRead) []tally {
	of := map[string]*tally{}
	count := func(s said, module string, right bool) {
		t := of[s.Rule]
		if t == nil {
			t = &tally{code: s.Code, rule: s.Rule, modules: map[string]bool{}}
			of[s.Rule] = t
		}
		t.named++
		t.modules[module] = true
		if right {
			t.right++
		}
	}
	for _, r := range rows {
		for _, s := range r.First {
			s = s.rated()
			if s.Code == "leave-it" || s.Rule == "" || !s.Hit && !r.Control {
				continue
			}
			count(s, r.Module, s.Fits)
		}
	}
	now := saidNow(rows)
	for _, r := range read {
		if said, judged := now[r.Case]; r.Rule != "" && (!judged || said[r.place()]) {
			count(r.said, r.Module, r.Verdict == "right")
		}
	}
	var out []tally
	for _, t := range of {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b tally) int { return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.rule, b.rule)) })
	return out
}

// saidNow are the rows of each case that was judged, by place. What a reader judged and is no longer said says
// nothing of the rules as they are.
func saidNow(rows []row) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, r := range rows {
		out[r.ID] = map[string]bool{}
		for _, s := range r.First {
			out[r.ID][s.rated().place()] = true
		}
	}
	return out
}

// place tells what is said from other rows of a case.
func (s said) place() string { return fmt.Sprint(s.Site, s.Code, s.Rule) }

// writeRates writes the table of package cures, unless the name is empty.
func writeRates(name, commit string, rates []tally) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `package cures

// Rated is when the rules were tried, and on which commit.
const Rated = %q

// rates has how often each rule was right on the train cases of lab/truth: go run ./truth -rates
var rates = []Rate{
`, time.Now().UTC().Format(time.DateOnly)+" "+cmp.Or(commit, "working tree"))
	for _, t := range rates {
		fmt.Fprintf(&b, "{%q, %q, %d, %d, %d},\n", t.code, t.rule, t.right, t.named, len(t.modules))
	}
	b.WriteString("}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}
