package prove

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

func TestClockRuns(t *testing.T) {
	f := func(unit string, a, b float64, want bool) {
		t.Helper()
		ch := Change{Metric: Metric{Unit: unit}, A: stats.Interval{Value: a}, B: stats.Interval{Value: b}}
		if got := clockRuns([]Comparison{{}, {Changes: []Change{ch}}}); got != want {
			t.Errorf("clockRuns(%s %v → %v) = %v, want %v", unit, a, b, got, want)
		}
	}
	f(unitGCCPU, 0.4, 0.9, false)
	f(unitGCCPU, 1.2, 0.9, true)
	f(unitGCCPU, 0.9, 1.2, true)
	f(unitWall, 3, 2, false)
}
