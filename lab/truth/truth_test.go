package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/lab/corpus"
)

// TestScore counts places, cures and false alarms apart, by split.
func TestScore(t *testing.T) {
	var s score
	fix, control := corpus.Case{Cure: "pool"}, corpus.Case{}
	s.add(fix, row{Site: 1, Right: 2, Covered: true, Advice: 3})
	s.add(fix, row{Site: 3, Right: 4, Advice: 1})
	s.add(fix, row{})
	s.add(fix, row{Error: "does not build"})
	s.add(control, row{Advice: 2})
	s.add(control, row{})
	want := score{fixes: 3, site1: 1, site3: 2, cure3: 1, covered: 1, advice: 4, errors: 1, controls: 2, alarms: 2}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got %+v, want %+v", s, want)
	}
	var b strings.Builder
	table(&b, map[string]*score{"train": &s, "validation": {}})
	for _, line := range []string{"| site@1 | 33 % | – |", "| controls | 2 | 0 |", "| not judged | 1 | 0 |"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("no %q in\n%s", line, b.String())
		}
	}
}

// TestControls holds what the list promises: a reason each, at most four of a module, and
// the split that follows from the repository's name, but for modules that rules were made on.
func TestControls(t *testing.T) {
	data, err := os.ReadFile("controls.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []corpus.Case
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	seen, of := map[string]bool{}, map[string]int{}
	for _, c := range list {
		if !c.Control() || c.ID == "" || c.Version == "" || c.Bench == "" || c.Why == "" || seen[c.ID] {
			t.Errorf("control %+v", c)
		}
		seen[c.ID] = true
		if of[c.Module]++; of[c.Module] > 4 {
			t.Errorf("%s has more than four controls", c.Module)
		}
		byName := c
		byName.Split = ""
		if c.Validation() && !byName.Validation() {
			t.Errorf("%s: %s is train by its name", c.ID, c.Module)
		}
	}
	if len(list) < 60 || len(of) < 25 {
		t.Errorf("%d controls of %d modules", len(list), len(of))
	}
}
