package diagnose

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestLargeShare(t *testing.T) {
	f := func(sizes map[unit.Bytes]float64, want float64) {
		t.Helper()
		if got := (&siteTally{sizes: sizes}).largeShare(); math.Abs(got-want) > 1e-12 {
			t.Errorf("of %v large are %v, want %v", sizes, got, want)
		}
	}
	f(nil, 0)
	f(map[unit.Bytes]float64{32 << 10: 5, 16: 1000}, 0)
	f(map[unit.Bytes]float64{40 << 10: 3}, 1)
	f(map[unit.Bytes]float64{1 << 20: 1, 1 << 10: 3 << 10}, 0.25)
	many := map[unit.Bytes]float64{}
	for i := range maxSizes {
		many[unit.Bytes(1<<20+i)] = 1
	}
	f(many, 0) // perhaps not all of them
}

// TestOwnFaults: what page faults of large objects take of the program's own code.
func TestOwnFaults(t *testing.T) {
	// 1000 samples of 10 ms, of which the program's own code has some, for 100
	// operations; half of 2 MB are in large objects. Alone there were 50, in a heap of 4 MiB.
	f := func(app, faultsPerOp float64, paced bool, fault *evidence.PageFault, large, want, high float64) {
		t.Helper()
		site := &siteTally{bytes: 2e6}
		r := &runCosts{charged: 1000, runData: &runData{
			run: evidence.Run{PageFault: fault}, period: 0.01, paced: paced,
			alone:     processUse{processes: 1, ops: 50, cpu: 5, faults: 50*faultsPerOp + 1024 + startFaults},
			seen:      processUse{processes: 1, ops: 100, cpu: 10, faults: 7},
			collector: collectorLog{cycles: []evidence.Cycle{{HeapEnd: 4 << 20}, {HeapEnd: 3 << 20}}},
			sites:     &siteSet{sites: map[stack.Key]*siteTally{{Function: "a"}: site}},
		}}
		r.buckets[stack.BucketApp] = app
		got := r.ownFaults(large)
		if math.Abs(got.Value-want) > 1e-12 || got.Low != 0 || math.Abs(got.High-high) > 1e-12 {
			t.Errorf("%v samples, %v faults an operation, %v bytes in large objects: %v, want %v to %v", app, faultsPerOp, large, got, want, high)
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

// TestLargeFaults: page faults of large objects are not the allocator's.
func TestLargeFaults(t *testing.T) {
	f := func(large, faults, want float64) {
		t.Helper()
		r := &runData{
			run: evidence.Run{PageFault: &evidence.PageFault{Pages: 9, NS: stats.Interval{Value: 1000}}}, period: 0.01, paced: true, touched: 1,
			alone: processUse{ops: 100, cpu: 1e6, faults: 1e6 + faults}, seen: processUse{ops: 100, cpu: 1e6, faults: 1e6},
			sites: &siteSet{sites: map[stack.Key]*siteTally{
				{Function: "a"}: {bytes: 100 * large, sizes: map[unit.Bytes]float64{1 << 20: 5}},
				{Function: "b"}: {bytes: 100 * (1 - large), sizes: map[unit.Bytes]float64{1 << 10: 5}},
			}},
			lines: lineSet{{Function: "b", Line: 7}: {cpu: 80, touching: 50}},
		}
		r.buckets[stack.BucketMalloc], r.buckets[stack.BucketZeroing], r.buckets[stack.BucketApp] = 60, 40, 300
		r.sites.sites[stack.Key{Function: "b"}].cpu[stack.BucketZeroing] = 40
		r.chargeFaults()
		line := 80 + 50*(want-1)
		if got := r.buckets[stack.BucketMalloc] / 60; math.Abs(got-want) > 1e-9 || r.buckets[stack.BucketZeroing] != 40*got || r.buckets[stack.BucketApp] != 300 ||
			r.sites.sites[stack.Key{Function: "b"}].cpu[stack.BucketZeroing] != 40*got || math.Abs(r.lines[stack.Key{Function: "b", Line: 7}].cpu-line) > 1e-9 {
			t.Errorf("%v of the bytes large, %v faults more: samples count %v times, want %v: %+v", large, faults, got, want, r.buckets)
		}
	}
	f(0, 1e6, 2)
	f(0, -5e5, 0.5)
	f(0.75, 1e6, 1.25)
	f(1, 1e6, 1)
	f(0, -1e6, leastTouched)
	f(0, 1e10, mostTouched)
}
