package tune

import (
	"math"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
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

// TestTrustClock: what the clock counts above the CPU samples is waiting for a processor.
func TestTrustClock(t *testing.T) {
	const cpu = 2 // seconds
	for _, c := range []struct {
		clock, sampled, want float64 // shares of CPU
		waited, idle         float64
		note                 bool
	}{
		{clock: 0.2, sampled: 0.3, want: 0.2},
		{clock: 0.35, sampled: 0.3, want: 0.35},
		{clock: 0.6, sampled: 0.3, want: 0.3, note: true},
		{clock: 1.5, sampled: 0.6, want: 0.6, note: true},
		{clock: 0.5, sampled: 0.2, idle: 1, want: 0.2, note: true},
		{clock: 0.9, sampled: 0, want: 0.9},
		{clock: 0.23, sampled: 0.2, want: 0.23, waited: 0.4},
		{clock: 0.25, sampled: 0, want: 0.1, waited: 0.4, note: true},
		{clock: 0.2, sampled: 0, want: 0.18, waited: 0.9},
	} {
		of := float64(cpu) / (1 + c.idle) // what shares are of
		p := gcmodel.Point{Background: c.clock * of / 4, Assist: c.clock * of / 4, Idle: c.idle * of / 2}
		w := Workload{Trace: &gcmodel.Trace{CPU: cpu, Whole: true, Points: []gcmodel.Point{p, p}}, Sampled: stats.Exact(c.sampled), waited: c.waited}
		note := w.trustClock()
		if strings.Contains(note, percent(c.clock)) != c.note || (note != "") != c.note {
			t.Errorf("clock %v, sampled %v: note %q", c.clock, c.sampled, note)
		}
		if got := measuredOf(w).Collector; math.Abs(got-c.want) > 1e-9 {
			t.Errorf("clock %v, sampled %v: the collector takes %v, want %v", c.clock, c.sampled, got, c.want)
		}
	}
}
