package rank_test

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/stats"
)

func TestIdleBesideWhatIsMeasured(t *testing.T) {
	d := &finding.Diagnosis{Runs: []finding.RunSummary{{Name: "B", Ops: 10, BytesPerOp: 1000}, {Name: "NotCounted", Ops: 10}}}
	d.Target.Kind = evidence.TargetPackages
	for _, c := range []struct {
		run   string
		bytes float64
		want  bool
	}{
		{"B", 1000, false},
		{"B", 2000, false}, // the passes differ in their number of operations
		{"B", 2100, true},
		{"NotCounted", 1e6, false},
		{"Unknown", 1e6, false},
	} {
		f := &finding.Finding{Run: c.run}
		f.Cost.BytesPerOp, f.Cost.ObjectsPerOp = stats.Exact(c.bytes), stats.Exact(1)
		if got := rank.Idle(d, f); got != c.want {
			t.Errorf("%s, %v B/op: %v, want %v", c.run, c.bytes, got, c.want)
		}
	}
	d.Target.Kind = evidence.TargetExec
	f := &finding.Finding{Run: "B"}
	f.Cost.BytesPerOp, f.Cost.ObjectsPerOp = stats.Exact(1e6), stats.Exact(1)
	if rank.Idle(d, f) {
		t.Error("said of a program, whose requests package testing does not count")
	}
}

// TestIdleService: a line of a service is idle if it allocates nearly nothing for a request, and few of all bytes.
func TestIdleService(t *testing.T) {
	line := func(objects, bytes float64) finding.Finding {
		f := finding.Finding{Run: "service"}
		f.Cost.ObjectsPerOp, f.Cost.Bytes, f.Cost.InUse = stats.Exact(objects), stats.Exact(bytes), stats.Exact(bytes)
		return f
	}
	d := &finding.Diagnosis{Runs: []finding.RunSummary{{Name: "service", Ops: 10}}}
	d.Target.Kind = evidence.TargetExec
	d.Findings = []finding.Finding{line(100, 1000), line(1e-6, 120), line(1e-6, 5), line(1, 5)}
	for i, want := range []bool{false, false, true, false} {
		if got := rank.Idle(d, &d.Findings[i]); got != want {
			t.Errorf("line %d: %v, want %v", i, got, want)
		}
	}
}
