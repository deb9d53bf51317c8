package diagnose

import (
	"math"
	"testing"

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
		if got.HeapGoal != goal || got.NoGoal != none {
			t.Errorf("%s: goal %v, none %v, want %v, %v", name, got.HeapGoal, got.NoGoal, goal, none)
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
