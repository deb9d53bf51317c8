package fix

import (
	"math"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/stats"
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

func TestOutweighs(t *testing.T) {
	change := func(o prove.Outcome, by float64) prove.Change {
		return prove.Change{Outcome: o, Delta: stats.Interval{Value: by}}
	}
	for name, c := range map[string]struct {
		of   prove.Comparison
		want bool
	}{
		"faster, a little more memory": {prove.Comparison{Outcome: prove.Mixed, Changes: []prove.Change{change(prove.Better, -0.4), change(prove.Worse, 0.019)}}, false},
		"faster, more memory":          {prove.Comparison{Outcome: prove.Mixed, Changes: []prove.Change{change(prove.Better, -0.4), change(prove.Worse, 0.021)}}, true},
		"fewer bytes, fewer requests":  {prove.Comparison{Outcome: prove.Mixed, Changes: []prove.Change{change(prove.Better, -0.4), change(prove.Worse, -0.1)}}, true},
		"memory where there was none":  {prove.Comparison{Outcome: prove.Mixed, Changes: []prove.Change{change(prove.Better, -0.4), change(prove.Worse, math.NaN())}}, true},
		"only a little worse":          {prove.Comparison{Outcome: prove.Worse, Changes: []prove.Change{change(prove.Worse, 0.01)}}, true},
		"better":                       {prove.Comparison{Outcome: prove.Better, Changes: []prove.Change{change(prove.Better, -0.4)}}, false},
	} {
		if outweighs(c.of) != c.want {
			t.Errorf("%s: %v, want %v", name, !c.want, c.want)
		}
	}
}
