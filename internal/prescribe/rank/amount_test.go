package rank

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/stats"
)

func TestCount(t *testing.T) {
	for v, want := range map[float64]string{1: "1 object", 0.5: "0.500 objects", 2: "2 objects", 1.04: "1 object", 340.4: "340 objects"} {
		if got := count(v); got != want {
			t.Errorf("count(%v) = %q, want %q", v, got, want)
		}
	}
}

// TestTooLittle: a row whose cure is not worth its while has none, and nothing to save.
func TestTooLittle(t *testing.T) {
	r := tooLittle(finding.Row{Remedy: finding.Remedy{Code: "avoid-conversion"}, Cuts: []finding.Cut{{}}})
	if r.Remedy.Code != cures.LeaveIt || len(r.Cuts) > 0 || !strings.Contains(r.Remedy.Text, "avoid-conversion") {
		t.Errorf("%+v", r)
	}
}

// TestRealised: the upper bound is what the function allocates, in that run, and at most what the operation does.
func TestRealised(t *testing.T) {
	line := func(function, run string, objects float64) *finding.Finding {
		return &finding.Finding{Site: evidence.Site{Function: function}, Run: run, Cost: finding.Cost{ObjectsPerOp: stats.Exact(objects)}}
	}
	alone, other := line("f", "A", 4), line("g", "A", 1)
	elsewhere := line("g", "B", 100)
	elsewhere.ByRun = []finding.RunCost{{Run: "B", Cost: elsewhere.Cost}, {Run: "A", Cost: finding.Cost{ObjectsPerOp: stats.Exact(3)}}}
	d := &finding.Diagnosis{Findings: []finding.Finding{*alone, *other, *elsewhere}, Runs: []finding.RunSummary{{Name: "A", Ops: 1, AllocsPerOp: 8}}}
	for _, c := range []struct {
		of        *finding.Finding
		low, high float64
	}{{alone, 3.2, 5}, {other, 0.8, 4}} {
		if got := Realised(d, c.of, finding.Prediction{ObjectsPerOp: c.of.Cost.ObjectsPerOp}).ObjectsPerOp; got.Low != c.low || got.High != c.high {
			t.Errorf("%s: %+v, want %v to %v", c.of.Site.Function, got, c.low, c.high)
		}
	}
}

// TestAtLeastNothing: a cure that would cost CPU is left alone, and the part in the program's own code is at most the whole.
func TestAtLeastNothing(t *testing.T) {
	p := AtLeastNothing(finding.Prediction{CPU: stats.Interval{Value: -0.01, Low: -0.03, High: 0.01}, Caches: stats.Interval{Value: 0.02, Low: 0.01, High: 0.03}})
	if p.CPU != (stats.Interval{High: 0.01}) || p.Caches != (stats.Interval{}) {
		t.Errorf("%+v", p)
	}
	p = AtLeastNothing(finding.Prediction{CPU: stats.Exact(0.1), Caches: stats.Exact(0.04)})
	if p.CPU != stats.Exact(0.1) || p.Caches != stats.Exact(0.04) {
		t.Errorf("%+v", p)
	}
}

// TestTelling: a benchmark's line that allocates nearly never has no share of bytes; a service's has, whose rate is
// that of requests, and a benchmark's line that allocates each time.
func TestTelling(t *testing.T) {
	for _, c := range []struct {
		kind    string
		objects float64
		want    float64
	}{
		{evidence.TargetPackages, 0.001, 0},
		{evidence.TargetPackages, 1, 0.17},
		{evidence.TargetLive, 0.001, 0.17},
		{evidence.TargetExec, 0.001, 0.17},
	} {
		var d finding.Diagnosis
		d.Target.Kind = c.kind
		f := finding.Finding{Cost: finding.Cost{BytesPerOp: stats.Exact(1), ObjectsPerOp: stats.Exact(c.objects)}}
		if got := telling(&d, &finding.Row{Finding: &f}, 0.17); got != c.want {
			t.Errorf("%s, %v objects an operation: %v, want %v", c.kind, c.objects, got, c.want)
		}
	}
}
