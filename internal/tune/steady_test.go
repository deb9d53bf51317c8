package tune

import (
	"math"
	"strings"
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
	// A window with MemStats alone has a forecast of the resident set, with the memory beside the heap.
	h := &d.Totals.Heap
	h.Peak, h.PeakByGoal, h.Resident, h.Tables, h.Slots = 16<<20, true, 60<<20, 6<<20, 2<<20
	if w, err = FromDiagnosis(d); err != nil {
		t.Fatal(err)
	}
	if m := w.Trace.Memory; m.Fixed != 6<<20 || m.Slack != 0.125 {
		t.Errorf("%v bytes beside the heap and %v of the heap, want 6 MiB and 0.125", m.Fixed, m.Slack)
	}
	plan, err := Make(w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m := plan.Measured; !m.Means || m.RSS != 60<<20 {
		t.Errorf("measured %+v, want means and 60 MiB resident", m)
	}
	if now := plan.Today.Forecast.RSS.Value; math.Abs(now-(60<<20)) > 4<<20 {
		t.Errorf("%v bytes resident with today's setting, want about 60 MiB", now)
	}
	want := SavedBy(d.Totals.CollectorShare, plan.Today.Forecast, plan.Choice.Point.Forecast).Value
	if plan.Choice.Saves != want || want <= 0 {
		t.Errorf("the plan saves %v, the overview %v", plan.Choice.Saves, want)
	}
}

// TestFewCollectionsOfService: of a service without a log, what is lacking is said of its window.
func TestFewCollectionsOfService(t *testing.T) {
	d := &finding.Diagnosis{}
	d.Totals.Heap.Live, d.Totals.Heap.Goal, d.Totals.CPUSeconds = 8<<20, 16<<20, 20
	d.Totals.Cycles.Automatic = 1
	if _, err := FromDiagnosis(d); err == nil || !strings.Contains(err.Error(), "1 collection in the window") {
		t.Errorf("error %v, want one about the window", err)
	}
}
