package analyzers_test

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/heaptrim/heaptrim/analyzers"
)

// TestRules runs each rule on the folder of its name: what it finds is written
// beside the line, and every other line is a case in which it must be silent, as
// are a generated file and a helper of tests.
func TestRules(t *testing.T) {
	for _, r := range analyzers.Rules() {
		t.Run(r.Code, func(t *testing.T) {
			found := 0
			for _, result := range analysistest.Run(t, analysistest.TestData(), r.Analyzer, r.Analyzer.Name,
				"generated", "support") {
				found += len(result.Action.Diagnostics)
				for _, d := range result.Action.Diagnostics {
					if d.Category != r.Code || !d.End.IsValid() {
						t.Errorf("category %q, want %q, and an end: %s", d.Category, r.Code, d.Message)
					}
				}
			}
			if found == 0 {
				t.Error("nothing is found in the rule's own examples")
			}
		})
	}
}

// TestSuppressions holds which comments exclude a finding, and which do not.
func TestSuppressions(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), analyzers.AvoidConversion, "suppressed")
}

func TestRulesAreDescribed(t *testing.T) {
	if err := analysis.Validate(analyzers.All()); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, r := range analyzers.Rules() {
		if r.Title == "" || r.Why == "" || r.Before == "" || r.After == "" || r.Silent == "" {
			t.Errorf("%s: an empty field in %+v", r.Code, r)
		}
		if got, want := r.Analyzer.Name, strings.ReplaceAll(r.Code, "-", ""); got != want {
			t.Errorf("%s: the analyser is called %s, want %s", r.Code, got, want)
		}
		if seen[r.Code] {
			t.Errorf("%s is there twice", r.Code)
		}
		seen[r.Code] = true
	}
}
