package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// The sentence and the figures beside it come from one division: what a reader
// multiplies has to be the rate that is printed.
func TestWhyAgreesWithItsFigures(t *testing.T) {
	f := func(name string, regime gcmodel.Regime, rate, cycles float64, want string) {
		t.Helper()
		r := &runCosts{Data: &run.Data{}}
		r.Collector.Logged = true
		r.model.known = true
		r.model.marginal.Headroom = 5 * float64(unit.MiB)
		r.model.marginal.Regime = regime
		totals := finding.Totals{Cycles: finding.CycleTotals{Automatic: 10, PerSecond: cycles},
			Heap: finding.HeapTotals{Live: 4 * unit.MiB, Goal: 8 * unit.MiB}, BytesPerSecond: rate}
		if got := why(r, totals); !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %q, want it to end in %q", name, got, want)
		}
	}
	const rate = 200 << 20
	f("by GOGC", gcmodel.Proportional, rate, 50,
		"grow to 8 MiB: the program allocates at 200 MiB/s, 4 MiB in each cycle.")
	f("minimum heap", gcmodel.MinimumHeap, rate, 50,
		"goal of 8 MiB: the program allocates at 200 MiB/s, 4 MiB in each cycle.")
	f("limit", gcmodel.MemoryLimit, rate, 50,
		"leaves 5 MiB above the 4 MiB that are live: the program allocates at 200 MiB/s, 4 MiB in each cycle.")
	f("rate not known", gcmodel.Proportional, 0, 50, "the program allocates and fills 5 MiB in each cycle.")
	f("cycles per second not known", gcmodel.Proportional, rate, 0,
		"the program allocates at 200 MiB/s and fills 5 MiB in each cycle.")
}

// TestTraceShare: gctrace's percentage is of the time of all processors, without idle marking.
func TestTraceShare(t *testing.T) {
	cycle := evidence.Cycle{Procs: 4, Used: evidence.PhaseCPU{
		SweepTermination: 10 * time.Millisecond, Assist: 20 * time.Millisecond, Background: 160 * time.Millisecond,
		Idle: 400 * time.Millisecond, MarkTermination: 10 * time.Millisecond,
	}}
	f := func(want float64, window time.Duration, cycles ...evidence.Cycle) {
		t.Helper()
		if got := traceShare(run.CollectorLog{Cycles: cycles, Window: window}); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d cycles in %v: %v, want %v", len(cycles), window, got, want)
		}
	}
	f(0.05, time.Second, cycle)
	f(0.1, time.Second, cycle, cycle)
	f(0, 0, cycle)
	f(0, time.Second)
}

// TestWorkedOnce: a benchmark that forgets b.N is named, a fast one and one without a time are not.
func TestWorkedOnce(t *testing.T) {
	runs := []finding.RunSummary{{Name: "Once", Pace: finding.Pace{NsPerOp: 4.5e-6}}, {Name: "Fast", Pace: finding.Pace{NsPerOp: 0.23}}, {Name: "Untimed"}}
	if got := workedOnce(runs); !slices.Equal(got, []string{"Once"}) {
		t.Errorf("%v", got)
	}
}

// TestRate: a benchmark's allocation rate is that of the process whose collections were counted, however fast the
// others ran; without a log it is not known from that.
func TestRate(t *testing.T) {
	f := func(bench bool, window time.Duration, ops int64, want float64) {
		t.Helper()
		r := &runCosts{Data: &run.Data{Bench: bench, Collector: run.CollectorLog{Window: window, Ops: ops},
			Results: []run.BenchResult{{Pass: evidence.PassTiming, NsPerOp: 1, BytesPerOp: 4000}, {Pass: evidence.PassTiming, NsPerOp: 3, BytesPerOp: 5000}, {Pass: evidence.PassCollector, BytesPerOp: 9000}}}}
		if got := rateOf(r); got != want {
			t.Errorf("benchmark %v, %d operations in %v: %v bytes a second, want %v", bench, ops, window, got, want)
		}
	}
	f(true, 2*time.Second, 1000, 4500*1000/2)
	f(true, 0, 1000, 0)
	f(false, 2*time.Second, 1000, 0)
}

// TestEnds: a live heap that changes is said to, one that hardly does is not, nor one that few cycles show.
func TestEnds(t *testing.T) {
	grows := []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}
	if low, high := ends(grows); low != 20 || high != 90 {
		t.Errorf("%v to %v", low, high)
	}
	for _, live := range [][]float64{grows[:5], {10, 10, 11, 10, 12, 10, 10, 10, 10, 90}} {
		if low, high := ends(live); low != 0 || high != 0 {
			t.Errorf("%v: %v to %v", live, low, high)
		}
	}
}
