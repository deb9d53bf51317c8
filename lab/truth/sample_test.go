package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// TestSample takes planted cases of all mutators, others by another commit, and leaves the rest.
func TestSample(t *testing.T) {
	cases := []corpus.Case{{ID: "control"}}
	for i := range 40 {
		m := "common"
		if i%10 == 0 {
			m = "rare"
		}
		cases = append(cases, corpus.Case{ID: fmt.Sprint(i), Cure: "pool", Planted: &corpus.Planted{Mutator: m}})
	}
	names := func(commit string, most int) (out []string) {
		for _, c := range sample(cases, most, commit) {
			out = append(out, c.ID)
		}
		return out
	}
	a, b := names("a", 10), names("b", 10)
	if len(a) != 11 || a[0] != "control" || !slices.Equal(a, names("a", 10)) || slices.Equal(a, b) {
		t.Errorf("drawn %v and %v", a, b)
	}
	rare := 0
	for _, id := range a[1:] {
		if strings.HasSuffix(id, "0") {
			rare++
		}
	}
	if rare != 4 {
		t.Errorf("%d of the 4 rare ones in %v", rare, a)
	}
	if got := names("a", 0); len(got) != len(cases) {
		t.Errorf("%d of %d cases", len(got), len(cases))
	}
}

// TestPlanted holds what the lists promise: each case with its edits, worse than the release in its
// benchmark, in the split and part that its repository's name gives; no module with more than one case of
// twenty, and many mutators, a third of them apart.
func TestPlanted(t *testing.T) {
	known, err := os.ReadFile("known.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen, of, mutators := map[string]bool{}, map[string]int{}, map[string]bool{}
	var all []corpus.Case
	for _, split := range []string{"train", "validation"} {
		list, err := corpus.Read("planted." + split + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if seen[c.ID] || c.Control() || c.Planted == nil || len(c.Planted.Edits) == 0 || len(c.Sites) == 0 || c.Bench == "" {
				t.Fatalf("case %s is not whole", c.ID)
			}
			seen[c.ID], mutators[c.Planted.Mutator] = true, c.Planted.Apart
			of[c.Module]++
			before, after := c.Measured.Before, c.Measured.After
			if before.Allocs < 1.05*after.Allocs && before.B < 1.05*after.B || before == after {
				t.Errorf("%s: %+v is not worse than %+v", c.ID, before, after)
			}
			if c.Validation() != (split == "validation") || (c.Part == "") != (split == "train") {
				t.Errorf("%s is in the list of %s", c.ID, split)
			}
			if split == "validation" && slices.Contains(strings.Fields(string(known)), c.Repository()) {
				t.Errorf("rules were made on %s", c.Module)
			}
		}
		all = append(all, list...)
	}
	for m, n := range of {
		if 20*n > len(all) {
			t.Errorf("%d of %d cases are of %s", n, len(all), m)
		}
	}
	apart := 0
	for _, is := range mutators {
		if is {
			apart++
		}
	}
	if len(of) < 40 || len(mutators) < 30 || 4*apart < len(mutators) {
		t.Errorf("%d modules, %d mutators, %d of them apart", len(of), len(mutators), apart)
	}
}
