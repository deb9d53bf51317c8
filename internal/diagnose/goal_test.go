package diagnose

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestNoGoal(t *testing.T) {
	const mib = unit.MiB
	off := evidence.Environment{GOGC: "off", GOMEMLIMIT: "off"}
	f := func(name string, log run.CollectorLog, env evidence.Environment, goal unit.Bytes, none bool) {
		t.Helper()
		d := &run.Data{Collector: log, Sites: &run.Sites{}}
		got := totals([]*runCosts{{Data: d, counts: correct.Apply(d, correct.Options{})}}, env)
		if got.Heap.Goal != goal || got.Heap.NoGoal != none {
			t.Errorf("%s: goal %v, none %v, want %v, %v", name, got.Heap.Goal, got.Heap.NoGoal, goal, none)
		}
	}
	sampled := func(goals ...float64) (out []evidence.Metrics) {
		for _, g := range goals {
			out = append(out, evidence.Metrics{Values: map[string]float64{"/gc/heap/goal:bytes": g}})
		}
		return out
	}
	told := func(next unit.Bytes) []metrics.MemStats { return []metrics.MemStats{{}, {NextGC: next}} }
	cycle := []evidence.Cycle{{Goal: 4 * mib}}
	const unlimited = math.MaxInt64
	f("turned off after the first sample", run.CollectorLog{Metrics: sampled(4<<20, unlimited, unlimited)}, off, 0,
		true)
	f("turned off after a collection", run.CollectorLog{Cycles: cycle, Metrics: sampled(4<<20, unlimited)}, off, 4*mib,
		true)
	f("turned on", run.CollectorLog{Metrics: sampled(unlimited, 8<<20)}, off, 8*mib, false)
	f("off, with a memory limit", run.CollectorLog{Metrics: sampled(2 << 30)},
		evidence.Environment{GOGC: "off", GOMEMLIMIT: "2GiB"}, 2<<30, false)
	f("MemStats of a service", run.CollectorLog{Stats: told(8 * mib)}, evidence.Environment{}, 8*mib, false)
	f("MemStats of a service that is off", run.CollectorLog{Stats: told(unlimited)}, off, 0, true)
	// What the runtime keeps free below the limit is taken off the largest there is.
	f("MemStats of a service that is off, since Go 1.19", run.CollectorLog{Stats: told(unlimited / 100 * 97)}, off, 0,
		true)
	f("no samples", run.CollectorLog{}, off, 0, true)
	f("no samples, a limit that is not known", run.CollectorLog{}, evidence.Environment{GOGC: "off"}, 0, false)
	f("nothing known", run.CollectorLog{}, evidence.Environment{}, 0, false)
}

// TestToldGoal: the live heap of a service without a log is the one that leads to
// its heap goal, unless its heap profiles show another one.
func TestToldGoal(t *testing.T) {
	const mib = unit.MiB
	// inUse MiB in objects of 64 KiB, sampled every 512 KiB.
	limited := func(goal unit.Bytes, gogc, limit string, inUse float64, live float64, want string) {
		t.Helper()
		d := &run.Data{Sites: run.NewSites(alloc.Kinder{}), Heap: run.Heap{InUse: inUse > 0, Rate: 512 << 10}}
		tally := &run.Site{}
		tally.InUse.Add(inUse * (1 << 20))
		tally.InUseObjs.Add(inUse * 16)
		d.Sites.Sites[stack.Key{Function: "a"}] = tally
		got, ok := d.GoalOf(metrics.MemStats{NextGC: goal}, evidence.Environment{GOGC: gogc, GOMEMLIMIT: limit})
		if !ok || got.Goal != float64(goal) || math.Abs(got.Live-live*(1<<20)) > 1<<10 || got.Gogc != want {
			t.Errorf("a goal of %v, GOGC=%q, %v MiB in use: %+v, want %v MiB and %q", goal, gogc, inUse, got, live,
				want)
		}
	}
	f := func(goal unit.Bytes, gogc string, inUse float64, live float64, want string) {
		t.Helper()
		limited(goal, gogc, "off", inUse, live, want)
	}
	f(400*mib, "", 0, 200, "")
	f(400*mib, "", 210, 200, "")
	f(400*mib, "", 80, 80, "400")
	f(400*mib, "", 320, 320, "25")
	f(400*mib, "400", 0, 80, "")
	f(400*mib, "400", 85, 80, "")
	f(400*mib, "400", 200, 200, "100") // the program has set another one
	f(400*mib, "off", 300, 300, "")
	limited(400*mib, "100", "500MiB", 300, 300, "") // the limit may have set it
	limited(400*mib, "", "", 300, 300, "33")
	f(400*mib, "", 500, 200, "")    // more than the goal: of another moment
	f(8*mib, "", 2, 4, "")          // too few samples to contradict
	f(4*mib, "", 0.4, 0.4, "")      // the runtime's minimum says nothing
	f(400*mib, "10000", 80, 80, "") // nor here
	f(80*mib, "100", 8, 8, "900")
}
