package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

const (
	// dearerFaults is how much dearer a page fault may be than one that was measured with
	// nothing else going on: by perf, 1.3 times in a program of the lab that faults on two
	// processors.
	dearerFaults = 1.5
	// leastPage is the smallest page of the systems that Go runs on, in bytes, and
	// startFaults are those of a test binary with next to nothing to do.
	leastPage   = 4 << 10
	startFaults = 700
)

// What a site allocates is fresh memory: its lines have to come into the caches
// while the code that follows waits, and for each of them another one has to go,
// which the program may have used again. The samples of that waiting are the
// program's own, wherever it waits, so that no column of the site has them, and
// yet they go with it. What such a line costs was measured on the machine of the
// recording, by a loop that writes such lines and uses as much memory over again
// as the program keeps alive.

// unsureLines is how much more than was measured a line may cost, as far as the
// programs of the lab tell that a removal resolved. Less is possible down to
// nothing: the program may hardly come back to what it has used.
const unsureLines = 2

// Marking reads what is alive, all of it, and so puts out of the caches what the
// program was using. What the program loses by that was measured with the
// program itself: what a cycle costs the process in all, less what the samples
// show of the collector.

// aftermath is what the program itself loses to collections, as a share of CPU,
// never below zero; zero where the recording does not tell. The difference of
// two figures that chance moves counts as much as it is likely to be there, by
// the posterior mean of a normal variable: before it is measured it is nothing,
// give or take afterSpread.
func (r *runCosts) aftermath() stats.Interval {
	c := r.Run.CycleCost
	if c == nil || r.cpu.charged <= 0 || r.CPU.Period <= 0 {
		return stats.Interval{}
	}
	perCycle := float64(len(r.Collector.Automatic())) * r.counts.CyclesUnprofiled() / (r.cpu.charged * r.CPU.Period) / 1e9
	whole := c.NS.Scale(perCycle)
	// Idle marking is in no share, but in what the process used.
	shown := r.cpu.collected.Value + r.assists() +
		r.cpu.buckets[stack.BucketMarkIdle]/r.cpu.charged - r.sweptByBytes(c.Times)
	sure := (r.cpu.collected.High - r.cpu.collected.Low) / 2
	v := math.Max(0, whole.Value-shown)
	out := stats.Interval{
		Low:  math.Max(0, v-math.Hypot(whole.Value-whole.Low, sure)),
		High: math.Max(0, whole.Value-shown+math.Hypot(whole.High-whole.Value, sure)),
	}
	if v > 0 {
		off := math.Hypot(whole.High-whole.Low, 2*sure) / (2 * normal95)
		prior := afterSpread * shown
		out.Value = v * prior * prior / (prior*prior + off*off)
	}
	own := r.cpu.buckets[stack.BucketApp] / r.cpu.charged
	out.Low = math.Min(out.Low, out.Value)
	return stats.Interval{Value: math.Min(out.Value, own), Low: math.Min(out.Low, own), High: math.Min(out.High, own)}
}

// sweptByBytes is what of sweeping the run at two paces takes for a cost of the
// bytes allocated and not of the cycle, as a share of CPU. With the cycle's cost
// c, the bytes' cost a and the cost s of sweeping a heap, which is G times as
// large at k times the distance, a stretch takes c + a + s, and a longer one
// c + ka + Gs: the two give c + s(k-G)/(k-1), where c + s is meant.
func (r *runCosts) sweptByBytes(times float64) float64 {
	live, goal := r.medianHeaps()
	if goal <= 0 || times <= 1 {
		return 0
	}
	grown := (live + times*(goal-live)) / goal
	return r.cpu.buckets[stack.BucketSweep] / r.cpu.charged * (grown - 1) / (times - 1)
}

// medianHeaps are the live heap and the heap goal of the run's collections, in
// bytes.
func (r *runCosts) medianHeaps() (live, goal float64) {
	var lives, goals []float64
	for _, c := range r.Collector.Automatic() {
		lives, goals = append(lives, run.RoundedUp(c.HeapLive)), append(goals, float64(c.Goal))
	}
	return stats.MedianOf(lives), stats.MedianOf(goals)
}

// afterSpread is how much a program is thought to lose to collections before
// that is measured, as a part of what the collector's samples show: the root of
// the mean square in thirteen programs of the lab was 0.4, with ledger's 1.0
// among them.
const afterSpread = 0.5

// normal95 is how many standard deviations from the mean 95 % lie within.
const normal95 = 1.96

// caches is what so many bytes of fresh memory, of the work behind the
// allocation columns, cost the program through the caches, as a share of CPU;
// zero where the recording does not tell.
func (r *runCosts) caches(bytes float64) stats.Interval {
	sec := r.cpuSecondsOfAllocs()
	c := r.Run.CacheMiss
	if c == nil || sec <= 0 || bytes <= 0 {
		return stats.Interval{}
	}
	own := r.cpu.buckets[stack.BucketApp] / r.cpu.charged * bytes / max(r.AllBytes(), bytes)
	loses := func(ns float64) float64 {
		if own <= 0 {
			return 0
		}
		// Code that takes fresh lines one right after the other waits for several
		// at a time, and never for longer than it runs.
		return -own * math.Expm1(-bytes/evidence.CacheLine*ns/1e9/sec/own)
	}
	return stats.Interval{Value: loses(c.NS.Value), Low: 0, High: loses(max(unsureLines*c.NS.Value, c.NS.High))}
}

func (r *runCosts) unsampledTimes() []BucketTime {
	var out []BucketTime
	for _, b := range correct.UnsampledBuckets {
		if n := r.cpu.buckets[b]; n > 0 {
			out = append(out, BucketTime{timeClass(b), n * r.CPU.Period * 1e9})
		}
	}
	return out
}

// ownFaults is the share of CPU that page faults take in the program's own code because of
// so many bytes of large objects, of the work behind the allocation columns; zero
// where the recording does not tell. The first fault of each page of the heap, and
// those of starting the process, are none of theirs.
func (r *runCosts) ownFaults(large float64) stats.Interval {
	alone, _, ok := r.counts.Faults(r.Run.PageFault)
	all := r.AllBytes()
	if !ok || large <= 0 || all <= 0 || r.cpu.charged <= 0 || r.CPU.Period <= 0 {
		return stats.Interval{}
	}
	peak := 0.0
	for _, c := range r.Collector.Automatic() {
		peak = math.Max(peak, float64(c.HeapEnd))
	}
	again := math.Max(
		0, alone*r.counts.Unprofiled.Ops-r.counts.Unprofiled.Processes*(peak/leastPage+startFaults),
	) / r.counts.Unprofiled.Ops
	share := math.Min(large/all, 1)
	perNS := again * r.counts.Profiled.Ops * share / 1e9 / (r.cpu.charged * r.CPU.Period)
	most := r.cpu.buckets[stack.BucketApp] / r.cpu.charged * share
	ns := r.Run.PageFault.NS
	return stats.Interval{Value: math.Min(perNS*ns.Value, most), Low: 0,
		High: math.Min(perNS*ns.High*dearerFaults, most)}
}
