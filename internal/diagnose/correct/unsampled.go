package correct

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
)

// The kernel takes CPU samples on its timer's ticks, from the thread that runs
// just then, and a thread whose turn comes late loses what it is behind with.
// So the samples add up to less than the processor time that the process had,
// and what they lack is that of threads that run for moments only. Beside the
// samples of perf, which have a timer of their own, that is hardly ever code of
// a program that computes, its allocations included, which runs on until a tick
// hits it, on a busy machine too, but what the collector and the scheduler do between
// two sleeps: the mark workers that each cycle wakes, the processors that stop
// for it and start again, the search for work. In programs with hundreds of
// cycles a second the collector's own figures are short by up to a quarter.

// burstBuckets are what runs for moments, as far as the collector does it.
var burstBuckets = []stack.Bucket{
	stack.BucketAssist, stack.BucketMarkDedicated, stack.BucketMarkFractional, stack.BucketMarkOther,
	stack.BucketCycle, stack.BucketSweep, stack.BucketScavenge,
}

// UnsampledBuckets hold CPU time that is in no sample.
var UnsampledBuckets = []stack.Bucket{
	stack.BucketCollectorUnsampled, stack.BucketSchedulerUnsampled, stack.BucketAppUnsampled,
}

// often is how many cycles a second leave about a percent of CPU between
// samples: in the lab 400 had 2 to 4 %, 100 had 1 and 20 none.
const often = 100

// HiddenBursts reports whether a run collects so often that samples alone fall
// short, and does not tell what the process used.
func HiddenBursts(r *run.Data) bool {
	window := r.Collector.Window.Seconds()
	return r.CPU.Known && (r.CPU.Used <= 0 || r.CPU.UsedPart) && window > 0 &&
		float64(len(r.Collector.Cycles)) > often*window
}

// sleepsPerCycle is how often a thread goes to sleep for one cycle and each
// processor but the first: for the world that stops twice, for the barriers
// that all processors have to pass, for mark workers that find nothing more.
// Counted in seven programs that have no sleeps of their own, with and without
// most of their cycles: 0 on one processor, 5 to 23 (median 10) on two, 28
// to 119 (median 38) on four, Go 1.26 on Linux.
const sleepsPerCycle = 12

// sleepsOfItsOwn reports whether the program put more threads to sleep than
// collections explain at twice the median: it waits for others itself, as a
// server does, so that its own work is in stretches between two sleeps too. In
// a server with 37 sleeps a cycle on two processors, what its samples lacked was
// the application's, by perf in the same process: the collector had 18 % of CPU
// in samples alone, and 15 % by perf.
func (r *Result) sleepsOfItsOwn() bool {
	return r.d.CPU.Sleeps > 2*sleepsPerCycle*float64(max(r.processors-1, 1))*r.CyclesProfiled()
}

// schedulerForCycles gives the collector its part of what the scheduler does: its
// stacks do not show for whom, but its work is to put threads to sleep and to
// wake them, and those are counted.
func schedulerForCycles(r *Result) {
	cpu := &r.d.CPU
	if cpu.Sleeps <= 0 || cpu.UsedPart {
		return
	}
	r.ForCycles = math.Min(1, sleepsPerCycle*float64(max(r.processors-1, 0))*r.CyclesProfiled()/cpu.Sleeps)
	r.added[stack.BucketCycleScheduler] = cpu.Buckets[stack.BucketScheduler] * r.SplitScheduler()
	r.kept[stack.BucketScheduler] = 1 - r.ForCycles
}

// CyclesProfiled is how many cycles there were while CPU samples were taken. Where
// that was not counted, a benchmark's log is of the same work, a service's of another window.
func (r *Result) CyclesProfiled() float64 {
	if r.Profiled.cycles > 0 {
		return r.Profiled.cycles
	}
	d := r.d
	n := float64(d.Collector.All)
	if d.Bench || d.Collector.Window <= 0 {
		return n
	}
	return n * d.CPU.Wall.Seconds() / d.Collector.Window.Seconds()
}

// unsampled is how many samples more the process should have had; zero where
// the recording does not tell, or no more than chance explains. Each thread's
// timer may be up to one period behind, and the time of a thread that runs
// while the system is asked may lag by a tick.
func (r *Result) unsampled() float64 {
	cpu := &r.d.CPU
	if cpu.Used <= 0 || cpu.Period <= 0 || cpu.UsedPart {
		return 0
	}
	const (
		ownThreads = 4   // of the runtime, beside one for each processor
		behind     = 0.8 // 95 % of a thread's offset, in periods: uniform at both ends
		lag        = 0.4 // a tick of 4 ms, in periods
	)
	p := math.Max(float64(r.processors), 1)
	off := behind*math.Sqrt(p+ownThreads) + lag*p
	if lack := cpu.Used.Seconds()/cpu.Period - cpu.All; lack > off {
		return lack
	}
	return 0
}

// NoSample is all that is in no sample, in samples.
func (r *Result) NoSample() float64 {
	sum := 0.0
	for _, b := range UnsampledBuckets {
		sum += r.added[b]
	}
	return sum
}

// unsampledTime gives what is in no sample to the collector and the scheduler
// by the samples that they do have, or to the application where that sleeps
// itself. What is idle marking's and what belongs to
// a benchmark's set-up stays out, as their samples do.
func unsampledTime(r *Result) {
	lack := r.unsampled()
	if lack == 0 {
		return
	}
	if r.sleepsOfItsOwn() {
		r.added[stack.BucketAppUnsampled] = lack
		return
	}
	collector := r.bucket(stack.BucketCycleScheduler)
	for _, b := range burstBuckets {
		collector += r.bucket(b)
	}
	scheduler := r.bucket(stack.BucketScheduler)
	all := collector + scheduler + r.bucket(stack.BucketMarkIdle) + r.setUpBursts
	if all == 0 {
		scheduler, all = 1, 1
	}
	r.added[stack.BucketCollectorUnsampled] = lack * collector / all
	r.added[stack.BucketSchedulerUnsampled] = lack * scheduler / all
}
