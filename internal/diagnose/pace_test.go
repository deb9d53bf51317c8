package diagnose

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestProfilePace: the collector's samples of a benchmark count for as many
// collections as its work has without a CPU profile on the heap.
func TestProfilePace(t *testing.T) {
	const collector, assist, site = 200.0, 40.0, "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	const forced = 15 // in either process, by package testing
	// seen are the collections of the profiled process that were not forced, and logged
	// those of the same work without a profile.
	f := func(loops []evidence.Loop, seen int64, logged int, ops int64, want float64, warned bool) {
		t.Helper()
		r := newRecording(t)
		r.run = r.w.Run(evidence.Run{Name: "BenchmarkA", Loops: loops})
		text := func(w io.Writer) error {
			_, err := fmt.Fprintln(w, "BenchmarkA-2 100 120000000 ns/op")
			return err
		}
		r.add(evidence.Part{Path: "timing.txt", Kind: evidence.KindBench, Pass: evidence.PassTiming, Ops: 100,
			Wall: 10 * time.Second}, text)
		used := evidence.Part{Ops: 100, Pass: evidence.PassTiming}
		if seen > 0 {
			used.Cycles = seen + forced
		}
		r.cpuOf(used, []sample{
			{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker",
				[]int64{0, collector * 1e7}},
			{"runtime.scanobject runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker", []int64{0, 30e7}},
			{"runtime.gcAssistAlloc " + site, []int64{0, assist * 1e7}},
			{"example.com/m.Work main.main", []int64{0, 500e7}},
			{site, []int64{0, 10e7}},
		})
		r.snapshot([]sample{{site, []int64{10, 1000, 5, 500}}})
		r.snapshot([]sample{{site, []int64{40, 4000, 5, 500}}})
		r.add(evidence.Part{Path: "gc.txt", Kind: evidence.KindBench, Pass: "service", Ops: 100,
			Wall: 10 * time.Second}, text)
		r.cyclesOf(evidence.Part{Ops: ops, Wall: 11 * time.Second}, logged, 10)
		r.add(evidence.Part{Path: "forced.txt", Kind: evidence.KindGCTrace, Wall: time.Second},
			func(w io.Writer) error {
				for i := 1; i <= forced; i++ {
					fmt.Fprintf(w, "gc %d @0.0%02ds 3%%: 0.1+5.0+0.1 ms clock, 0.2+1.0/5.0/0+0.2 ms cpu, 19->20->10 "+
						"MB, 20 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)\n", i, i)
				}
				return nil
			})
		d := r.diagnose()
		run := d.runs[0]
		for b, n := range map[stack.Bucket]float64{stack.BucketMarkDedicated: collector * want,
			stack.BucketAssist: assist * want, stack.BucketMarkIdle: 30 * want, stack.BucketApp: 500,
			stack.BucketMalloc: 10} {
			if got := run.cpu.buckets[b]; math.Abs(got-n) > 1e-9 {
				t.Errorf("%d collections seen, %d logged: %s has %v samples, want %v", seen, logged,
					stack.BucketInfo[b].Name, got, n)
			}
		}
		if told := strings.Contains(strings.Join(d.Diagnosis().Warnings, "\n"),
			"correction was skipped"); told != warned {
			t.Errorf("%d collections seen, %d logged: warnings %q", seen, logged, d.Diagnosis().Warnings)
		}
		if got, known := d.Diagnosis().Runs[0].CycleScale, want != 1; (got != 0) != known || known &&
			math.Abs(got-want) > 1e-9 {
			t.Errorf("%d collections seen, %d logged: a pace of %v, want %v", seen, logged, got, want)
		}
		if warned && run.counts.CyclesProfiled() == float64(seen+forced) {
			t.Errorf("%d collections seen, %d logged: the count is not believed and used", seen, logged)
		}
		checkSums(t, d)
		if d.Diagnosis().Totals.Samples != 750 {
			t.Errorf("%d collections seen, %d logged: %d samples, want 750", seen, logged, d.Diagnosis().Totals.Samples)
		}
		checkWeights(t, d)
	}
	bench := []evidence.Loop{{File: "a_test.go", First: 1, Last: 9}}
	f(bench, 40, 60, 100, 1.5, false)
	f(bench, 60, 30, 100, 0.5, false)
	f(bench, 40, 60, 200, 0.75, false) // one more count in the log than in the profile
	f(bench, 40, 60, 0, 1, false)      // of what work is not known
	f(bench, 0, 60, 100, 1, false)     // not counted
	f(bench, 19, 60, 100, 1, false)    // too few
	f(bench, 100, 19, 100, 1, false)   // too few
	f(bench, 20, 61, 100, 1, true)     // hardly the same work
	f(bench, math.MaxInt64-forced, 60, 100, 1, true)
	f(nil, 40, 60, 100, 1, false) // a service's log is of another window
}

// checkWeights: the derived profile and the stacks hold all CPU of the first run, idle
// marking too, where every sample is on a stack.
func checkWeights(t *testing.T, d *Session) {
	t.Helper()
	derived := d.Diagnosis().Totals.CPUSeconds*1e9 + d.runs[0].cpu.buckets[stack.BucketMarkIdle]*1e7
	walked := derived
	scanDerived(t, d, func(s evidence.Sample) { derived -= float64(s.Values[0] - s.Values[3]) })
	err := d.WalkStacks(func(s WeightedStack) error {
		walked -= s.CPU
		return nil
	})
	if err != nil || math.Abs(derived) > 10 || math.Abs(walked) > 10 {
		t.Errorf("the derived profile lacks %v ns, the stacks %v: %v", derived, walked, err)
	}
}
