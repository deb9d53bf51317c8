package main

import (
	"encoding/json"
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

// TestPlanted holds what the list promises: each case with its edits, worse than the release in
// its benchmark, and no module with more than one case of twenty.
func TestPlanted(t *testing.T) {
	data, err := os.ReadFile("planted.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []corpus.Case
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	seen, of := map[string]bool{}, map[string]int{}
	for _, c := range list {
		if seen[c.ID] || c.Control() || c.Planted == nil || len(c.Planted.Edits) == 0 || len(c.Sites) != 1 || c.Bench == "" {
			t.Fatalf("case %+v", c)
		}
		seen[c.ID] = true
		of[c.Module]++
		before, after := c.Measured.Before, c.Measured.After
		if before.Allocs < 1.05*after.Allocs && before.B < 1.05*after.B || before == after {
			t.Errorf("%s: %+v is not worse than %+v", c.ID, before, after)
		}
	}
	for m, n := range of {
		if 20*n > len(list) {
			t.Errorf("%d of %d cases are of %s", n, len(list), m)
		}
	}
	if len(of) < 15 {
		t.Errorf("%d modules", len(of))
	}
}
