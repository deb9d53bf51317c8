package diagnose

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestOwnFaults: what page faults of large objects take of the program's own code.
func TestOwnFaults(t *testing.T) {
	// 1000 samples of 10 ms, of which the program's own code has some, for 100
	// operations; half of 2 MB are in large objects. Alone there were 50, in a heap of 4 MiB.
	f := func(app, faultsPerOp float64, paced bool, fault *evidence.PageFault, large, want, high float64) {
		t.Helper()
		site := &run.Site{Bytes: 2e6}
		r := &runCosts{
			Data: &run.Data{
				Run: evidence.Run{PageFault: fault}, CPU: run.CPU{Period: 0.01},
				Collector: run.CollectorLog{Cycles: []evidence.Cycle{{HeapEnd: 4 << 20}, {HeapEnd: 3 << 20}}},
				Sites:     &run.Sites{Sites: map[stack.Key]*run.Site{{Function: "a"}: site}},
			},
			counts: &correct.Result{
				CycleKnown: paced,
				Unprofiled: correct.Use{Processes: 1, Ops: 50, CPU: 5, Faults: 50*faultsPerOp + 1024 + startFaults},
				Profiled:   correct.Use{Processes: 1, Ops: 100, CPU: 10, Faults: 7},
			},
			cpu: charges{charged: 1000},
		}
		r.cpu.buckets[stack.BucketApp] = app
		got := r.ownFaults(large)
		if math.Abs(got.Value-want) > 1e-12 || got.Low != 0 || math.Abs(got.High-high) > 1e-12 {
			t.Errorf("%v samples, %v faults an operation, %v bytes in large objects: %v, want %v to %v", app,
				faultsPerOp, large, got, want, high)
		}
	}
	fault := &evidence.PageFault{Pages: 9, NS: stats.Interval{Value: 2000, Low: 1900, High: 2200}}
	f(800, 2000, true, fault, 1e6, 0.02, 0.02*1.1*1.5)
	f(800, 2000, true, fault, 2e6, 0.04, 0.04*1.1*1.5)
	f(800, 2000, true, fault, 9e6, 0.04, 0.04*1.1*1.5) // no more than all
	f(50, 2000, true, fault, 1e6, 0.02, 0.025)         // no more than its part of the program's own code
	f(0, 2000, true, fault, 1e6, 0, 0)
	f(800, -10, true, fault, 1e6, 0, 0) // not even each page once
	f(800, 2000, true, fault, 0, 0, 0)
	f(800, 2000, true, nil, 1e6, 0, 0)
	f(800, 2000, false, fault, 1e6, 0, 0)
	f(800, 60000, true, fault, 1e6, 0, 0) // more than the process had time for
}
