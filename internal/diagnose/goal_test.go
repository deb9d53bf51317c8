package diagnose

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/metrics"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestNoGoal(t *testing.T) {
	const mib = unit.MiB
	off := evidence.Environment{GOGC: "off", GOMEMLIMIT: "off"}
	f := func(name string, log collectorLog, env evidence.Environment, goal unit.Bytes, none bool) {
		t.Helper()
		got := totals([]*runCosts{{runData: &runData{collector: log}}}, env)
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
	f("turned off after the first sample", collectorLog{metrics: sampled(4<<20, unlimited, unlimited)}, off, 0, true)
	f("turned off after a collection", collectorLog{cycles: cycle, metrics: sampled(4<<20, unlimited)}, off, 4*mib, true)
	f("turned on", collectorLog{metrics: sampled(unlimited, 8<<20)}, off, 8*mib, false)
	f("off, with a memory limit", collectorLog{metrics: sampled(2 << 30)}, evidence.Environment{GOGC: "off", GOMEMLIMIT: "2GiB"}, 2<<30, false)
	f("MemStats of a service", collectorLog{stats: told(8 * mib)}, evidence.Environment{}, 8*mib, false)
	f("MemStats of a service that is off", collectorLog{stats: told(unlimited)}, off, 0, true)
	// What the runtime keeps free below the limit is taken off the largest there is.
	f("MemStats of a service that is off, since Go 1.19", collectorLog{stats: told(unlimited / 100 * 97)}, off, 0, true)
	f("no samples", collectorLog{}, off, 0, true)
	f("no samples, a limit that is not known", collectorLog{}, evidence.Environment{GOGC: "off"}, 0, false)
	f("nothing known", collectorLog{}, evidence.Environment{}, 0, false)
}

// TestToldGoal: the live heap of a service without a log is the one that leads to
// its heap goal, unless its heap profiles show another one.
func TestToldGoal(t *testing.T) {
	const mib = unit.MiB
	// inUse MiB in objects of 64 KiB, sampled every 512 KiB.
	limited := func(goal unit.Bytes, gogc, limit string, inUse float64, live float64, want string) {
		t.Helper()
		d := &runData{sites: newSiteSet(alloc.Kinder{}), hasInUse: inUse > 0, liveRate: 512 << 10}
		tally := &siteTally{}
		tally.inUse.add(inUse * (1 << 20))
		tally.inUseObjs.add(inUse * 16)
		d.sites.sites[stack.Key{Function: "a"}] = tally
		got, ok := d.goalOf(metrics.MemStats{NextGC: goal}, evidence.Environment{GOGC: gogc, GOMEMLIMIT: limit})
		if !ok || got.goal != float64(goal) || math.Abs(got.live-live*(1<<20)) > 1<<10 || got.gogc != want {
			t.Errorf("a goal of %v, GOGC=%q, %v MiB in use: %+v, want %v MiB and %q", goal, gogc, inUse, got, live, want)
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
	f(400*mib, "", 500, 200, "") // more than the goal: of another moment
	f(8*mib, "", 2, 4, "")       // too few samples to contradict
	f(4*mib, "", 0.4, 2, "")
	f(400*mib, "10000", 80, 80, "") // the runtime's minimum
	f(80*mib, "100", 8, 8, "900")
}
