package fix

import (
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// TestOthers: an edit is counted where its line costs most and least, and where its function runs without that line.
func TestOthers(t *testing.T) {
	row := func(function string, objects map[string]float64) finding.Row {
		f := &finding.Finding{Site: evidence.Site{Function: function}}
		for run, n := range objects {
			c := finding.RunCost{Run: run}
			c.Cost.ObjectsPerOp.Value = n
			f.ByRun = append(f.ByRun, c)
		}
		return finding.Row{Finding: f}
	}
	mine := row("p.F", map[string]float64{"Own": 3, "A": 1, "B": 2, "C": 5, "D": 4, "E": 6})
	s := &search{report: &finding.Report{Prescription: &finding.Prescription{Rows: []finding.Row{
		mine, row("p.F", map[string]float64{"A": 9, "Passes": 1, "PassesMore": 2}), row("p.G", map[string]float64{"Elsewhere": 7}),
	}}}, benchs: map[string]finding.RunSummary{}}
	for _, name := range []string{"Own", "A", "B", "C", "D", "E", "Passes", "PassesMore", "Elsewhere"} {
		s.benchs[name] = finding.RunSummary{Name: name}
	}
	var got []string
	for _, b := range s.others(&Attempt{Finding: mine.Finding, Bench: trial.Bench{Name: "Own"}}) {
		got = append(got, b.Name)
	}
	if want := []string{"E", "C", "A", "B", "Passes", "PassesMore"}; !slices.Equal(got, want) {
		t.Errorf("counted in %q, want %q", got, want)
	}
}
