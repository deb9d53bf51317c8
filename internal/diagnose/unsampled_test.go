package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestInNoSample: what the process used beyond its samples goes to collector
// and scheduler as they have samples, and the scheduler's work to the collector
// as its cycles put threads to sleep.
func TestInNoSample(t *testing.T) {
	site := "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	f := func(used evidence.Part, want map[stack.Bucket]float64) {
		t.Helper()
		r := newRecording(t)
		r.cpuOf(used, []sample{
			{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker", []int64{0, 200e7}},
			{"runtime.scanobject runtime.gcDrainMarkWorkerIdle runtime.gcBgMarkWorker", []int64{0, 100e7}},
			{"runtime.futex runtime.findRunnable runtime.schedule", []int64{0, 100e7}},
			{"example.com/m.Work main.main", []int64{0, 590e7}},
			{site, []int64{0, 10e7}},
		})
		r.snapshot([]sample{{site, []int64{10, 1000, 5, 500}}})
		r.snapshot([]sample{{site, []int64{40, 4000, 5, 500}}})
		r.cycles(20, 10)
		d := r.diagnose()
		checkSums(t, d)
		for b, n := range want {
			if got := d.runs[0].cpu.buckets[b]; math.Abs(got-n) > 1e-9 {
				t.Errorf("%v: %s has %v samples, want %v", used, stack.BucketInfo[b].Name, got, n)
			}
		}
		if got := d.Diagnosis().Totals.Samples; got != 900 {
			t.Errorf("%v: %d samples, want 900", used, got)
		}
		rows := 0
		for _, row := range d.Diagnosis().Decomposition {
			for _, b := range append([]stack.Bucket{stack.BucketCycleScheduler}, correct.UnsampledBuckets...) {
				if row.Name == stack.BucketInfo[b].Name {
					rows++
				}
			}
		}
		if told := used.Profiled > 0 && used.Profiled < math.MaxInt64; told != (rows > 0) {
			t.Errorf("%v: %d rows for what is in no sample", used, rows)
		}
		total := 100e7 // idle marking is there too, and in no share
		total += d.Diagnosis().Totals.CPUSeconds * 1e9
		scanDerived(t, d, func(s evidence.Sample) { total -= float64(s.Values[0] - s.Values[3]) })
		if math.Abs(total) > 10 {
			t.Errorf("%v: the derived profile lacks %v ns", used, total)
		}
	}
	none := map[stack.Bucket]float64{stack.BucketCollectorUnsampled: 0, stack.BucketSchedulerUnsampled: 0,
		stack.BucketCycleScheduler: 0, stack.BucketScheduler: 100}
	f(evidence.Part{}, none)
	f(evidence.Part{Profiled: math.MaxInt64}, none)            // more than a machine has
	f(evidence.Part{Profiled: 10010 * time.Millisecond}, none) // one sample short is chance
	// 400 samples run for moments: 200 of the collector, 100 of idle marking.
	f(evidence.Part{Profiled: 10400 * time.Millisecond},
		map[stack.Bucket]float64{stack.BucketCollectorUnsampled: 20, stack.BucketSchedulerUnsampled: 10,
			stack.BucketScheduler: 100})
	// 12 of 24 sleeps a cycle are the collector's on the second processor.
	f(evidence.Part{Profiled: 10400 * time.Millisecond, Sleeps: 480},
		map[stack.Bucket]float64{stack.BucketCycleScheduler: 50, stack.BucketScheduler: 50,
			stack.BucketCollectorUnsampled: 25, stack.BucketSchedulerUnsampled: 5})
	// More than twice that are not all the collector's: the program sleeps itself.
	f(evidence.Part{Profiled: 10400 * time.Millisecond, Sleeps: 481},
		map[stack.Bucket]float64{stack.BucketAppUnsampled: 40, stack.BucketCollectorUnsampled: 0,
			stack.BucketSchedulerUnsampled: 0})
	f(evidence.Part{Profiled: 9 * time.Second, Sleeps: 10},
		map[stack.Bucket]float64{stack.BucketCycleScheduler: 100, stack.BucketScheduler: 0,
			stack.BucketCollectorUnsampled: 0})
}

// TestUsedIsMissing: a program that collects often and does not tell what it
// used is said to lack it.
func TestUsedIsMissing(t *testing.T) {
	f := func(used time.Duration, cycles int, want bool) {
		t.Helper()
		r := newRecording(t)
		r.cpuOf(evidence.Part{Profiled: used}, []sample{{"example.com/m.Work main.main", []int64{0, 590e7}}})
		r.cycles(cycles, 10)
		got := false
		for _, m := range r.diagnose().Diagnosis().Gaps {
			got = got || m.Code == evidence.GapUsed
		}
		if got != want {
			t.Errorf("used %v, %d cycles in 10 s: missing %v, want %v", used, cycles, got, want)
		}
	}
	f(0, 20, false)
	f(0, 1200, true)
	f(6*time.Second, 1200, false)
}

// TestFewSamples: a handful of CPU samples says nothing of shares, so none is given, and the
// gap says how many samples it takes.
func TestFewSamples(t *testing.T) {
	site := "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	f := func(n int64, known bool) {
		t.Helper()
		r := newRecording(t)
		r.cpu([]sample{
			{"example.com/m.Work main.main", []int64{0, (n - 1) * 1e7}},
			{site, []int64{0, 1e7}},
		})
		r.snapshot([]sample{{site, []int64{10, 1000, 5, 500}}})
		r.snapshot([]sample{{site, []int64{40, 4000, 5, 500}}})
		r.cycles(20, 10)
		s := r.diagnose()
		d := s.Diagnosis()
		costs := false
		for _, f := range d.Findings {
			costs = costs || f.Cost.CPU != stats.Interval{}
		}
		if (d.Totals.CPUSeconds > 0) != known || (len(d.Decomposition) > 0) != known || costs != known || d.Totals.Samples != n {
			t.Errorf("%d samples: %v s of CPU of %d samples, %d rows, costs known %v", n, d.Totals.CPUSeconds, d.Totals.Samples,
				len(d.Decomposition), costs)
		}
		lacks := slices.ContainsFunc(d.Gaps, func(g evidence.Gap) bool {
			return g.Code == evidence.GapCPU && strings.Contains(g.What, "10 samples or more")
		})
		if lacks == known {
			t.Errorf("%d samples: the gaps are %v", n, d.Gaps)
		}
	}
	f(finding.FewSamples-1, false)
	f(finding.FewSamples, true)
}
