package correct

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
)

// The kernel samples whichever thread runs when its timer fires. Threads that run only
// briefly between sleeps are rarely hit, so samples add up to less than the process's CPU
// time. A comparison with perf, which has a timer of its own, shows what is missing. It is
// hardly ever code of a program that computes, its allocations included: that runs until a
// tick hits it, on a busy machine too. It is work of the collector and the scheduler between
// two sleeps: mark workers that each cycle wakes, processors that stop for it and start
// again, the search for work. In programs with hundreds of cycles a second the collector's
// own samples are short by up to a quarter.

// burstBuckets are the collector's work that runs in short bursts.
var burstBuckets = []stack.Bucket{
	stack.BucketAssist, stack.BucketMarkDedicated, stack.BucketMarkFractional, stack.BucketMarkOther,
	stack.BucketCycle, stack.BucketSweep, stack.BucketScavenge,
}

// UnsampledBuckets hold CPU time that is in no sample.
var UnsampledBuckets = []stack.Bucket{
	stack.BucketCollectorUnsampled, stack.BucketSchedulerUnsampled, stack.BucketAppUnsampled,
}

// often is the number of cycles a second at which about a percent of CPU is unsampled: in
// the lab 2 to 4 % at 400, 1 % at 100 and none at 20.
const often = 100

// HiddenBursts reports whether a run collects so often that samples fall short, and has no
// CPU time of the process.
func HiddenBursts(r *run.Data) bool {
	window := r.Collector.Window.Seconds()
	return r.CPU.Known && (r.CPU.Used <= 0 || r.CPU.UsedPart) && window > 0 &&
		float64(len(r.Collector.Cycles)) > often*window
}

// muchUnsampled is the least share of CPU time without samples for which there is a warning.
const muchUnsampled = 0.15

// sleepsPerCycle is the number of sleeps of threads for one cycle and each processor but the
// first: for the world that stops twice, for the barriers that all processors have to pass,
// for mark workers that find nothing more. Counted in seven programs that have no sleeps of
// their own, with and without most of their cycles: 0 on one processor, 5 to 23 (median 10)
// on two, 28 to 119 (median 38) on four, Go 1.26 on Linux.
const sleepsPerCycle = 12

// sleepsOfItsOwn reports whether the program put more threads to sleep than collections
// explain at twice the median. Such a program waits for others, as a server does, so its own
// work is also in short bursts between sleeps. In a server with 37 sleeps a cycle on two
// processors, perf in the same process showed that the unsampled time was the application's:
// the collector had 18 % of CPU by samples alone, and 15 % by perf.
func (r *Result) sleepsOfItsOwn() bool {
	return r.d.CPU.Sleeps > 2*sleepsPerCycle*float64(max(r.processors-1, 1))*r.CyclesProfiled()
}

// schedulerForCycles charges the collector with its part of the scheduler's work. Stacks do
// not show the reason of that work, but it consists of putting threads to sleep and waking
// them, and sleeps are counted.
func schedulerForCycles(r *Result) {
	cpu := &r.d.CPU
	if cpu.Sleeps <= 0 || cpu.UsedPart {
		return
	}
	r.ForCycles = math.Min(1, sleepsPerCycle*float64(max(r.processors-1, 0))*r.CyclesProfiled()/cpu.Sleeps)
	r.added[stack.BucketCycleScheduler] = cpu.Buckets[stack.BucketScheduler] * r.SplitScheduler()
	r.kept[stack.BucketScheduler] = 1 - r.ForCycles
}

// CyclesProfiled is the number of cycles while CPU samples were taken. If that was not
// counted, a benchmark's log covers the same work, a service's another window.
func (r *Result) CyclesProfiled() float64 {
	if r.profiled > 0 {
		return r.profiled
	}
	d := r.d
	n := float64(d.Collector.All)
	if d.Bench || d.Collector.Window <= 0 {
		return n
	}
	return n * d.CPU.Wall.Seconds() / d.Collector.Window.Seconds()
}

// unsampled is the number of samples that are missing; zero if it is not known, or not more
// than chance explains. Each thread's timer may be up to one period behind, and the CPU time
// of a running thread may be read a tick late.
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

// NoSample is all unsampled time, in samples.
func (r *Result) NoSample() float64 {
	sum := 0.0
	for _, b := range UnsampledBuckets {
		sum += r.added[b]
	}
	return sum
}

// unsampledTime charges unsampled time to the collector and the scheduler, in the ratio of
// their samples, or to the application if that sleeps itself. Idle marking and a benchmark's
// set-up are excluded, as their samples are.
func unsampledTime(r *Result) {
	lack := r.unsampled()
	if lack == 0 {
		return
	}
	if r.sleepsOfItsOwn() {
		r.added[stack.BucketAppUnsampled] = lack
		all := -r.bucket(stack.BucketMarkIdle)
		for _, n := range r.Buckets() {
			all += n
		}
		if part := lack / all; part > muchUnsampled {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%.0f %% of the CPU time is in no CPU sample, as the program's threads run for moments only: it counts as the "+
				"application's, with what that allocates there, so that the shares of allocating and of lines are too small", 100*part))
		}
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
