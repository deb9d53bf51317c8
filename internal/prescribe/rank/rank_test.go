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
