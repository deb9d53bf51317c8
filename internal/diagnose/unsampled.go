package diagnose

import (
	"math"
	"time"

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
var burstBuckets = []stack.Bucket{stack.BucketAssist, stack.BucketMarkDedicated, stack.BucketMarkFractional, stack.BucketMarkOther, stack.BucketCycle, stack.BucketSweep, stack.BucketScavenge}

// noSampleBuckets hold CPU time that is in no sample.
var noSampleBuckets = []stack.Bucket{stack.BucketCollectorUnsampled, stack.BucketSchedulerUnsampled, stack.BucketAppUnsampled}

// often is how many cycles a second leave about a percent of CPU between
// samples: in the lab 400 had 2 to 4 %, 100 had 1 and 20 none.
const often = 100

// hiddenBursts reports whether a run collects so often that samples alone fall
// short, and does not tell what the process used.
func (r *runData) hiddenBursts() bool {
	window := r.collector.window.Seconds()
	return r.hasCPU && (r.profiled <= 0 || r.unprofiled) && window > 0 && float64(len(r.collector.cycles)) > often*window
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
func (d *runData) sleepsOfItsOwn(processors int) bool {
	return d.sleeps > 2*sleepsPerCycle*float64(max(processors-1, 1))*d.cyclesProfiled()
}

// chargeScheduler gives the collector its part of what the scheduler does: its
// stacks do not show for whom, but its work is to put threads to sleep and to
// wake them, and those are counted.
func (d *runData) chargeScheduler(processors int) {
	if d.sleeps <= 0 || d.unprofiled {
		return
	}
	d.forCycles = math.Min(1, sleepsPerCycle*float64(max(processors-1, 0))*d.cyclesProfiled()/d.sleeps)
	d.buckets[stack.BucketCycleScheduler] = d.buckets[stack.BucketScheduler] * d.forCycles * d.paceOf(stack.BucketCycleScheduler)
	d.buckets[stack.BucketScheduler] *= 1 - d.forCycles
}

// cyclesProfiled is how many cycles there were while CPU samples were taken. Where
// that was not counted, a benchmark's log is of the same work, a service's of another window.
func (d *runData) cyclesProfiled() float64 {
	if d.cyclesSeen > 0 {
		return d.cyclesSeen
	}
	n := float64(d.collector.all)
	if d.bench || d.collector.window <= 0 {
		return n
	}
	return n * d.wall.Seconds() / d.collector.window.Seconds()
}

// unsampled is how many samples more the process should have had; zero where
// the recording does not tell, or no more than chance explains. Each thread's
// timer may be up to one period behind, and the time of a thread that runs
// while the system is asked may lag by a tick.
func (d *runData) unsampled(processors int) float64 {
	if d.profiled <= 0 || d.period <= 0 || d.unprofiled {
		return 0
	}
	const (
		ownThreads = 4   // of the runtime, beside one for each processor
		behind     = 0.8 // 95 % of a thread's offset, in periods: uniform at both ends
		lag        = 0.4 // a tick of 4 ms, in periods
	)
	p := math.Max(float64(processors), 1)
	off := behind*math.Sqrt(p+ownThreads) + lag*p
	if lack := d.profiled.Seconds()/d.period - d.sampled; lack > off {
		return lack
	}
	return 0
}

// processorTime is the most that a process can have had in a window, with a
// tenth and a tick of each processor for clocks that were read at other moments.
func processorTime(window time.Duration, processors int) time.Duration {
	return time.Duration(math.Min(float64(max(processors, 1))*(1.1*window.Seconds()+0.01), 1e9) * 1e9)
}

// noSample is all that is in no sample, in samples.
func (d *runData) noSample() float64 {
	sum := 0.0
	for _, b := range noSampleBuckets {
		sum += d.buckets[b]
	}
	return sum
}

// chargeUnsampled gives what is in no sample to the collector and the scheduler
// by the samples that they do have, or to the application where that sleeps
// itself. What is idle marking's and what belongs to
// a benchmark's set-up stays out, as their samples do.
func (d *runData) chargeUnsampled(processors int) {
	lack := d.unsampled(processors)
	if lack == 0 {
		return
	}
	if d.sleepsOfItsOwn(processors) {
		d.buckets[stack.BucketAppUnsampled] = lack
		return
	}
	collector := d.buckets[stack.BucketCycleScheduler]
	for _, b := range burstBuckets {
		collector += d.buckets[b]
	}
	scheduler := d.buckets[stack.BucketScheduler]
	all := collector + scheduler + d.buckets[stack.BucketMarkIdle] + d.setUpBursts
	if all == 0 {
		scheduler, all = 1, 1
	}
	d.buckets[stack.BucketCollectorUnsampled] = lack * collector / all
	d.buckets[stack.BucketSchedulerUnsampled] = lack * scheduler / all
}
