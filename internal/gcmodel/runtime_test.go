package gcmodel_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestGoalIsTheRuntimes asks the runtime that runs the test for its goal under
// many settings. It holds the formulas against every toolchain that builds us.
func TestGoalIsTheRuntimes(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))

	f := func(s gcmodel.Setting, live unit.Bytes, regime gcmodel.Regime, tolerance float64) {
		t.Helper()
		keep := make([]byte, live)
		limit := s.Limit
		if limit == 0 {
			limit = math.MaxInt64
		}
		debug.SetMemoryLimit(int64(limit))
		debug.SetGCPercent(s.GOGC)
		runtime.GC()
		w, want := workloadNow()
		runtime.KeepAlive(keep)
		got, err := gcmodel.Goal(w, s)
		if err != nil {
			t.Errorf("Goal(%+v, %+v): %v", w, s, err)
			return
		}
		if math.Abs(got.Goal-want) > tolerance*want || got.Regime != regime {
			t.Errorf("GOGC=%d limit %v live %v: got goal %.0f, %v, want the runtime's %.0f, %v", s.GOGC, s.Limit, live, got.Goal, got.Regime, want, regime)
		}
	}
	for _, gogc := range []int{20, 50, 100, 237, 400} {
		f(gcmodel.Setting{GOGC: gogc}, 64*unit.MiB, gcmodel.Proportional, 1e-6)
		f(gcmodel.Setting{GOGC: gogc, Limit: 1 << 40}, 64*unit.MiB, gcmodel.Proportional, 1e-6)
	}
	f(gcmodel.Setting{GOGC: 400}, 16, gcmodel.MinimumHeap, 1e-6)
	f(gcmodel.Setting{GOGC: 800}, unit.MiB, gcmodel.MinimumHeap, 1e-6)
	// The goal is a sweep distance away until a cycle begins, and 64 KiB more then.
	f(gcmodel.Setting{GOGC: 5}, 4*unit.MiB, gcmodel.MinimumRunway, 0.02)
	// What is not heap changes between reading it and reading the goal.
	f(gcmodel.Setting{GOGC: -1, Limit: 200 * unit.MiB}, 64*unit.MiB, gcmodel.MemoryLimit, 0.02)
	f(gcmodel.Setting{GOGC: 400, Limit: 256 * unit.MiB}, 64*unit.MiB, gcmodel.MemoryLimit, 0.02)
	f(gcmodel.Setting{GOGC: -1, Limit: 48 * unit.MiB}, unit.MiB, gcmodel.MemoryLimit, 0.05)
}

// workloadNow reads what the pacer knows, and the goal it has set.
func workloadNow() (gcmodel.Workload, float64) {
	samples := []metrics.Sample{
		{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(samples)
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = float64(s.Value.Uint64())
	}
	return gcmodel.Workload{Live: v[1], Stacks: v[2], Globals: v[3], NonHeap: v[4] - v[5] - v[6] - v[7]}, v[0]
}
