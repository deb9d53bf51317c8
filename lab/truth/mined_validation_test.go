package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// TestMinedValidation holds the list of validation to what those of train promise, and to the part that
// the repository's name gives.
func TestMinedValidation(t *testing.T) {
	cases, err := corpus.Read("mined.validation.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 30 {
		t.Errorf("%d cases", len(cases))
	}
	known, err := os.ReadFile("known.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen, of := map[string]bool{}, map[string]int{}
	for _, c := range cases {
		checkMined(t, c)
		if seen[c.ID] {
			t.Errorf("%s: twice", c.ID)
		}
		seen[c.ID] = true
		if of[c.Repository()]++; of[c.Repository()] > 5 {
			t.Errorf("more than five cases of %s", c.Repository())
		}
		byName := c
		byName.Split = ""
		if !byName.Validation() || !c.Validation() || c.Part != c.HashedPart() || slices.Contains(strings.Fields(string(known)), c.Repository()) {
			t.Errorf("%s: %s belongs elsewhere", c.ID, c.Repository())
		}
	}
}
