package diagnose

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// stackOf makes one Location per name, leaf first; "+" joins a frame to the
// location before it as the caller that it was inlined into.
func stackOf(names ...string) []*evidence.Location {
	var out []*evidence.Location
	for i, n := range names {
		if n[0] == '+' {
			last := out[len(out)-1]
			last.Frames = append(last.Frames, evidence.Frame{Function: n[1:], File: "f.go", Line: i})
			continue
		}
		out = append(out, &evidence.Location{Index: len(out), Frames: []evidence.Frame{{Function: n, File: "f.go", Line: i}}})
	}
	return out
}

func TestBucket(t *testing.T) {
	own := newOwnership(evidence.Target{Module: "example.com/m"}, nil)
	f := func(version string, want bucket, names ...string) {
		t.Helper()
		c := newClassifier(&evidence.Profile{Locations: len(names)}, newFrameTable(version), own, nil)
		if got := c.bucket(stackOf(names...)); got != want {
			t.Errorf("%s %v: %s, want %s", version, names, bucketInfo[got].name, bucketInfo[want].name)
		}
	}
	user := "example.com/m.F"
	f("go1.26.8", bucketApp, user)
	f("go1.26.8", bucketApp, "runtime.mapaccess1", user)
	f("go1.26.8", bucketMalloc, "runtime.mallocgcSmallNoscan", "runtime.mallocgc", "+runtime.newobject", user)
	f("go1.27.4", bucketMalloc, "runtime.mallocgcSmallScanNoHeaderSC3", user)
	f("go1.26.8", bucketZeroing, "runtime.memclrNoHeapPointers", "runtime.mallocgcLarge", "runtime.mallocgc", user)
	f("go1.26.8", bucketApp, "runtime.memclrNoHeapPointers", user)
	f("go1.26.8", bucketGrowCopy, "runtime.memmove", "runtime.growslice", user)
	f("go1.26.8", bucketApp, "runtime.memmove", user)
	f("go1.26.8", bucketConvert, "runtime.memmove", "runtime.slicebytetostring", user)
	f("go1.26.8", bucketMalloc, "runtime.mallocgcSmallNoscan", "runtime.slicebytetostring", user)
	f("go1.26.8", bucketAssist, "runtime.scanobject", "runtime.gcDrainN", "runtime.gcAssistAlloc1", "runtime.gcAssistAlloc", "runtime.mallocgc", user)
	f("go1.26.8", bucketMarkIdle, "runtime.scanObject", "runtime.gcDrain", "+runtime.gcDrainMarkWorkerIdle", "runtime.gcBgMarkWorker.func2", "runtime.systemstack", "runtime.gcBgMarkWorker")
	f("go1.26.8", bucketMarkDedicated, "expandAVX512_26", "runtime.gcDrain", "+runtime.gcDrainMarkWorkerDedicated", "runtime.gcBgMarkWorker")
	f("go1.26.8", bucketSweep, "runtime.(*sweepLocked).sweep", "runtime.(*mcentral).cacheSpan", "runtime.mallocgc", user)
	f("go1.26.8", bucketSweep, "runtime.(*sweepLocked).sweep", "runtime.sweepone", "runtime.bgsweep")
	f("go1.26.8", bucketBarrier, "gcWriteBarrier", user)
	f("go1.26.8", bucketStackGrowth, "runtime.copystack", "runtime.newstack", "runtime.morestack", user)
	f("go1.26.8", bucketApp, "runtime.asyncPreempt", user)
	f("go1.26.8", bucketScheduler, "runtime.goschedImpl", "runtime.gopreempt_m", "runtime.asyncPreempt2.func1", "runtime.mcall")
	f("go1.26.8", bucketScheduler, "runtime.schedule", "runtime.gopreempt_m", "runtime.newstack", "runtime.morestack", user)
	f("go1.26.8", bucketScheduler, "runtime.futex", "runtime.notesleep", "runtime.stopm", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall")
	f("go1.26.8", bucketCycle, "runtime.futex", "runtime.notesleep", "runtime.stopm", "runtime.gcstopm", "runtime.findRunnable", "runtime.schedule", "runtime.goschedImpl", "runtime.gopreempt_m", "runtime.asyncPreempt2.func1", "runtime.mcall")
	f("go1.26.8", bucketCycle, "runtime.futex", "runtime.notewakeup", "runtime.runSafePointFn", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall")
	f("go1.26.8", bucketApp, user, "runtime/pprof.Do")
	f("go1.26.8", bucketTooling, "compress/flate.(*compressor).deflate", "runtime/pprof.(*profileBuilder).build", "runtime/pprof.profileWriter")
	f("go1.26.8", bucketRemainder, "runtime.somethingNew")
	// A release from the future gets every rule.
	f("devel +abc", bucketMalloc, "runtime.mallocgcSmallScanNoHeaderSC3", user)
}

func TestSetUp(t *testing.T) {
	own := newOwnership(evidence.Target{Module: "example.com/m"}, nil)
	loops := []evidence.Loop{{File: "f_test.go", First: 10, Last: 20}}
	bench := func(line int) *evidence.Location {
		return &evidence.Location{Index: 1, Frames: []evidence.Frame{{Function: "example.com/m.BenchmarkF", File: "f_test.go", Line: line}}}
	}
	leaf := &evidence.Location{Index: 0, Frames: []evidence.Frame{{Function: "example.com/m.F", File: "f.go", Line: 3}}}
	driver := &evidence.Location{Index: 2, Frames: []evidence.Frame{{Function: "testing.(*B).runN"}}}
	f := func(want bool, stack ...*evidence.Location) {
		t.Helper()
		c := newClassifier(&evidence.Profile{Locations: 3}, newFrameTable(""), own, loops)
		if got := c.setUp(stack); got != want {
			t.Errorf("setUp(%v) = %v, want %v", stack[1].Frames, got, want)
		}
	}
	f(false, leaf, bench(12), driver)
	f(true, leaf, bench(5), driver)
	f(false, leaf, &evidence.Location{Index: 1, Frames: []evidence.Frame{{Function: "example.com/m.worker"}}})
	f(true, leaf, driver)
}
