package browser

import (
	"math"
	"strings"
	"testing"
)

// TestErrors: what is attributed of the collector has the collector's error of each
// run, and the runs err independently.
func TestErrors(t *testing.T) {
	browserPath(t)
	p := pageOf(t, bundleOf(t, "benchmarks"))
	sum, half := churnOf(t, p)
	b := newTab(t, desktop)
	b.open(p.url + "#view=flame&weight=cost")
	row := "[...document.querySelectorAll('#view-flame tbody tr')].find((r) => r.innerText.includes('GC churn'))"
	b.wait("%s", row)
	said := eval[string](b, "%s.querySelector('[data-label=total]').innerText", row)
	value, plus, ok := strings.Cut(said, "±")
	if !ok {
		t.Fatalf("GC churn is %q, want it with ±", said)
	}
	if got, want := parse(t, value), 100*sum; math.Abs(got-want) > 0.06 {
		t.Errorf("GC churn is said to be %q, want %.2f %%", said, want)
	}
	if got, want := parse(t, plus), 100*half; math.Abs(got-want) > 0.06+0.01*want {
		t.Errorf("GC churn is said to be %q, want ±%.2f", said, want)
	}
}

// churnOf is the churn of all runs, as a share of CPU, and half its interval.
func churnOf(t *testing.T, p page) (sum, half float64) {
	t.Helper()
	v := p.data.Views.Flame
	if len(v.Runs) < 2 {
		t.Fatalf("the recording has %d runs: it tests nothing", len(v.Runs))
	}
	off := map[string]float64{}
	for _, r := range v.Runs {
		off[r.Name] = r.CollectorError
	}
	root := make([]int, len(v.Parent)) // the node of a node's run
	for i := 1; i < len(root); i++ {
		if root[i] = root[i-v.Parent[i]]; root[i] == 0 {
			root[i] = i
		}
	}
	byRun := map[string]float64{}
	for _, c := range v.Weights {
		at := 0
		for i, step := range c.At {
			if at += step; c.Name == "churn" {
				byRun[v.Functions.Name[v.Frames.Function[v.Frame[root[at]]]]] += c.V[i] * 1e-7
			}
		}
	}
	squares := 0.0
	for run, x := range byRun {
		e, ok := off[run]
		if !ok || e == 0 {
			t.Errorf("churn of %q, which is no run with an error of its own", run)
		}
		sum += x
		squares += x * x * e * e
	}
	// No share can be off by more than what is left.
	return sum, math.Sqrt(squares * (1 - sum))
}
