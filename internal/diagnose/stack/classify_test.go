package stack

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
		out = append(out, &evidence.Location{Index: len(out),
			Frames: []evidence.Frame{{Function: n, File: "f.go", Line: i}}})
	}
	return out
}

func TestBucket(t *testing.T) {
	own := NewOwnership(evidence.Target{Module: "example.com/m"}, "", nil)
	f := func(version string, want Bucket, names ...string) {
		t.Helper()
		c := NewClassifier(&evidence.Profile{Locations: len(names)}, NewTable(version), own, nil)
		if got := c.Bucket(stackOf(names...)); got != want {
			t.Errorf("%s %v: %s, want %s", version, names, BucketInfo[got].Name, BucketInfo[want].Name)
		}
	}
	user := "example.com/m.F"
	f("go1.26.8", BucketApp, user)
	f("go1.26.8", BucketApp, "runtime.mapaccess1", user)
	f("go1.26.8", BucketMalloc, "runtime.mallocgcSmallNoscan", "runtime.mallocgc", "+runtime.newobject", user)
	f("go1.27.4", BucketMalloc, "runtime.mallocgcSmallScanNoHeaderSC3", user)
	f("go1.26.8", BucketZeroing, "runtime.memclrNoHeapPointers", "runtime.mallocgcLarge", "runtime.mallocgc", user)
	f("go1.26.8", BucketApp, "runtime.memclrNoHeapPointers", user)
	f("go1.26.8", BucketGrowCopy, "runtime.memmove", "runtime.growslice", user)
	f("go1.26.8", BucketApp, "runtime.memmove", user)
	f("go1.26.8", BucketConvert, "runtime.memmove", "runtime.slicebytetostring", user)
	f("go1.26.8", BucketMalloc, "runtime.mallocgcSmallNoscan", "runtime.slicebytetostring", user)
	f("go1.26.8", BucketAssist, "runtime.scanobject", "runtime.gcDrainN", "runtime.gcAssistAlloc1",
		"runtime.gcAssistAlloc", "runtime.mallocgc", user)
	f("go1.26.8", BucketMarkIdle, "runtime.scanObject", "runtime.gcDrain", "+runtime.gcDrainMarkWorkerIdle",
		"runtime.gcBgMarkWorker.func2", "runtime.systemstack", "runtime.gcBgMarkWorker")
	f("go1.26.8", BucketMarkDedicated, "expandAVX512_26", "runtime.gcDrain", "+runtime.gcDrainMarkWorkerDedicated",
		"runtime.gcBgMarkWorker")
	f("go1.26.8", BucketSweep, "runtime.(*sweepLocked).sweep", "runtime.(*mcentral).cacheSpan", "runtime.mallocgc",
		user)
	f("go1.26.8", BucketSweep, "runtime.(*sweepLocked).sweep", "runtime.sweepone", "runtime.bgsweep")
	f("go1.26.8", BucketBarrier, "gcWriteBarrier", user)
	f("go1.26.8", BucketStackGrowth, "runtime.copystack", "runtime.newstack", "runtime.morestack", user)
	f("go1.26.8", BucketApp, "runtime.asyncPreempt", user)
	f("go1.26.8", BucketScheduler, "runtime.goschedImpl", "runtime.gopreempt_m", "runtime.asyncPreempt2.func1",
		"runtime.mcall")
	f("go1.26.8", BucketScheduler, "runtime.schedule", "runtime.gopreempt_m", "runtime.newstack", "runtime.morestack",
		user)
	f("go1.26.8", BucketScheduler, "runtime.futex", "runtime.notesleep", "runtime.stopm", "runtime.findRunnable",
		"runtime.schedule", "runtime.park_m", "runtime.mcall")
	f("go1.26.8", BucketCycle, "runtime.futex", "runtime.notesleep", "runtime.stopm", "runtime.gcstopm",
		"runtime.findRunnable", "runtime.schedule", "runtime.goschedImpl", "runtime.gopreempt_m",
		"runtime.asyncPreempt2.func1", "runtime.mcall")
	f("go1.26.8", BucketCycle, "runtime.futex", "runtime.notewakeup", "runtime.runSafePointFn", "runtime.findRunnable",
		"runtime.schedule", "runtime.park_m", "runtime.mcall")
	f("go1.26.8", BucketApp, user, "runtime/pprof.Do")
	f("go1.26.8", BucketTooling, "compress/flate.(*compressor).deflate", "runtime/pprof.(*profileBuilder).build",
		"runtime/pprof.profileWriter")
	f("go1.26.8", BucketRemainder, "runtime.somethingNew")
	// A release from the future gets every rule.
	f("devel +abc", BucketMalloc, "runtime.mallocgcSmallScanNoHeaderSC3", user)
}

func TestSetUp(t *testing.T) {
	own := NewOwnership(evidence.Target{Module: "example.com/m"}, "", nil)
	loops := []evidence.Loop{{File: "f_test.go", First: 10, Last: 20}}
	bench := func(line int) *evidence.Location {
		return &evidence.Location{Index: 1,
			Frames: []evidence.Frame{{Function: "example.com/m.BenchmarkF", File: "f_test.go", Line: line}}}
	}
	leaf := &evidence.Location{Index: 0, Frames: []evidence.Frame{{Function: "example.com/m.F", File: "f.go", Line: 3}}}
	driver := &evidence.Location{Index: 2, Frames: []evidence.Frame{{Function: "testing.(*B).runN"}}}
	f := func(want bool, stack ...*evidence.Location) {
		t.Helper()
		c := NewClassifier(&evidence.Profile{Locations: 3}, NewTable(""), own, loops)
		if got := c.SetUp(stack); got != want {
			t.Errorf("setUp(%v) = %v, want %v", stack[1].Frames, got, want)
		}
	}
	f(false, leaf, bench(12), driver)
	f(true, leaf, bench(5), driver)
	f(false, leaf, &evidence.Location{Index: 1, Frames: []evidence.Frame{{Function: "example.com/m.worker"}}})
	f(true, leaf, driver)
}

// TestWithoutPreemption: samples at the frame that a signal put on a stack are those of the
// function that it stopped.
func TestWithoutPreemption(t *testing.T) {
	at := func(names ...string) *evidence.Location {
		l := &evidence.Location{}
		for _, n := range names {
			l.Frames = append(l.Frames, evidence.Frame{Function: n})
		}
		return l
	}
	preempted, user, inlined := at("runtime.asyncPreempt"), at("example.com/m.work"), at("runtime.asyncPreempt", "example.com/m.work")
	f := func(want int, locs ...*evidence.Location) {
		t.Helper()
		if got := WithoutPreemption(locs); len(got) != want || got[len(got)-1] != locs[len(locs)-1] {
			t.Errorf("%d of %d locations are left, want %d", len(got), len(locs), want)
		}
	}
	f(1, preempted, user)
	f(2, user, preempted)
	f(1, preempted)
	f(2, inlined, user)
	f(2, at("runtime.asyncPreempt2"), user)
}

// TestVia: the function that the user's line calls, outside of what compiled code calls in the runtime.
func TestVia(t *testing.T) {
	own := NewOwnership(evidence.Target{Module: "example.com/m"}, "", nil)
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"", []string{"runtime.mallocgc", "runtime.newobject"}},
		{"fmt.Sprint", []string{"runtime.mallocgc", "runtime.slicebytetostring", "fmt.Sprint"}},
		{"runtime.Caller", []string{"runtime.mallocgc", "runtime.newobject", "+runtime.CallersFrames", "runtime.Caller"}},
		{"runtime.(*Frames).Next", []string{"runtime.mallocgc", "runtime.(*Frames).Next"}},
		{"log.Output", []string{"runtime.mallocgc", "runtime.Caller", "log.Output"}},
	} {
		names := append(c.names, "example.com/m.F")
		classifier := NewClassifier(&evidence.Profile{Locations: len(names)}, NewTable("go1.26.8"), own, nil)
		if p := FindPath(classifier, stackOf(names...)); p.Via != c.want || p.Key.Function != "example.com/m.F" {
			t.Errorf("%v: via %q of %s", names, p.Via, p.Key.Function)
		}
	}
}
