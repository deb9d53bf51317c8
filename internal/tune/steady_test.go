package tune

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestIdleOfService: idle marking is a share of the CPU time without it, and both together are what the service took.
func TestIdleOfService(t *testing.T) {
	d := &finding.Diagnosis{}
	d.Totals.Heap.Live, d.Totals.Heap.Goal = 8<<20, 16<<20
	d.Totals.Cycles.Automatic, d.Totals.CPUSeconds = 10, 20
	d.Totals.CollectorShare, d.Totals.IdleMarkShare = stats.Interval{Value: 0.3}, stats.Interval{Value: 0.2}
	d.Environment.GOMAXPROCS = 2
	w, err := FromDiagnosis(d)
	if err != nil {
		t.Fatal(err)
	}
	idle := 0.0
	for _, p := range w.Trace.Points[1:] {
		idle += p.Idle
	}
	if math.Abs(w.Trace.CPU-24) > 1e-9 || math.Abs(idle-4) > 1e-9 {
		t.Errorf("%v s of CPU, %v of them idle marking, want 24 and 4", w.Trace.CPU, idle)
	}
	if m := measuredOf(w); math.Abs(m.Collector-0.3) > 1e-9 || math.Abs(m.Idle-0.2) > 1e-9 {
		t.Errorf("collector %v, idle marking %v, want the diagnosis's 0.3 and 0.2", m.Collector, m.Idle)
	}
	plan, err := Make(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := SavedBy(d.Totals.CollectorShare, plan.Today.Forecast, plan.Choice.Point.Forecast).Value
	if plan.Choice.Saves != want || want <= 0 {
		t.Errorf("the plan saves %v, the overview %v", plan.Choice.Saves, want)
	}
}
