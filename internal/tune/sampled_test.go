package tune

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestSampled: the collector's share by samples is that of the run, and of no other of the same name.
func TestSampled(t *testing.T) {
	run := func(name string, share float64) finding.RunSummary {
		return finding.RunSummary{Name: name, CollectorShare: stats.Exact(share)}
	}
	d := &finding.Diagnosis{Runs: []finding.RunSummary{run("A", 0.1), run("B", 0.2), run("C", 0.3), run("C", 0.4)}}
	for name, want := range map[string]float64{"A": 0.1, "B": 0.2, "C": 0, "D": 0} {
		if got := sampled(d, name); got.Value != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := sampled(nil, "A"); got.Value != 0 {
		t.Errorf("without a diagnosis: %v", got)
	}
}
