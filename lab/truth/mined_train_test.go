package main

import (
	"os"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// catalogue are codes of cures; each word that a list has for what was done stands for one of them at least.
var catalogue = []string{
	"keep-on-stack", "unbox-interface", "hoist-closure", "presize-slice", "presize-map", "presize-builder", "avoid-conversion",
	"cache-compiled", "intern-string", "reuse-buffer", "pool-buffer", "pool-object", "pool-misuse", "batch-arena", "shrink-layout", "skip-work",
}

// TestMinedTrain holds what the lists of mined fixes promise: places with what was wrong there, a cure that the
// catalogue has, a saving that was measured, at most five of a module, and the split.
func TestMinedTrain(t *testing.T) {
	known := map[string]bool{}
	text, err := os.ReadFile("known.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		known[strings.TrimSpace(line)] = true
	}
	seen, of := map[string]bool{}, map[string]int{}
	for _, name := range []string{"mined.train.json", "mined.known.json"} {
		cases, err := corpus.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Errorf("%s is empty", name)
		}
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
			if ruled := known[c.Repository()]; ruled != (name == "mined.known.json") || c.Validation() || byName.Validation() && !ruled {
				t.Errorf("%s: %s does not belong to %s", c.ID, c.Repository(), name)
			}
		}
	}
}

func checkMined(t *testing.T, c corpus.Case) {
	t.Helper()
	if c.Control() || c.ID == "" || c.Before == "" || c.After == "" || c.Before == c.After || c.Bench == "" || c.Detail == "" || len(c.Sites) == 0 {
		t.Errorf("%s: something is missing: %+v", c.ID, c)
	}
	for _, s := range c.Sites {
		if s.File == "" || s.Line == 0 || s.What == "" {
			t.Errorf("%s: place %+v", c.ID, s)
		}
	}
	for _, word := range append([]string{c.Cure}, c.CureOK...) {
		alone, right := corpus.Case{Cure: word}, 0
		for _, code := range catalogue {
			if alone.Right(code) {
				right++
			}
		}
		if right == 0 {
			t.Errorf("%s: no cure is of the kind %q", c.ID, word)
		}
	}
	if before, after := c.Measured.Before, c.Measured.After; before.Allocs-after.Allocs < 1 && before.B-after.B < 16 {
		t.Errorf("%s: saves nothing: %+v", c.ID, c.Measured)
	}
}
