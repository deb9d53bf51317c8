package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// A site allocates fresh memory. Each of its cache lines causes a cache miss and evicts
// another line, which the program may have used again. The samples of these misses are in
// the program's own code, so no column of the site has them, but they disappear with the
// site. The cache-miss cost of a line was measured on the machine of the recording, by a
// loop that writes fresh lines and reuses as much memory as the program keeps alive.

// unsureLines is the largest ratio of a line's real cost to the measured one, from the
// programs of the lab whose removals gave a clear result. The cost can also be less, down to
// nothing: the program may hardly return to memory that it has used.
const unsureLines = 2

// Marking reads all live memory and so evicts the program's data from the caches (cache
// pollution). Its cost was measured with the program itself: the cost of a cycle to the
// process, less the samples of the collector.

// aftermath is the cost of cache pollution by collections, as a share of CPU, never below
// zero; zero if it was not measured. It is a difference of two noisy figures, so the
// posterior mean of a normal variable is used, with a prior of mean 0 and deviation
// afterSpread.
func (r *runCosts) aftermath() stats.Interval {
	c := r.Run.CycleCost
	if c == nil || r.cpu.charged <= 0 || r.CPU.Period <= 0 {
		return stats.Interval{}
	}
	perCycle := float64(len(r.Collector.Automatic())) / (r.cpu.charged * r.CPU.Period) / 1e9
	whole := c.NS.Scale(perCycle)
	// No share includes idle marking, but the CPU time of the process does.
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

// sweptByBytes is the part of sweeping that the run at two settings of GOGC attributes to
// bytes allocated instead of cycles, as a share of CPU. With the cycle's cost c, the bytes'
// cost a and the cost s of sweeping a heap, which is G times as large at k times the
// distance, a stretch takes c + a + s, and a longer one c + ka + Gs. The two give c +
// s(k-G)/(k-1) instead of c + s.
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

// afterSpread is the prior deviation of the cost of cache pollution, as a part of the
// collector's samples: the root mean square in thirteen programs of the lab was 0.4,
// including ledger's 1.0.
const afterSpread = 0.5

// normal95 is the half-width of the 95 % interval of a normal variable, in standard
// deviations.
const normal95 = 1.96

// caches is the cache-miss cost of a number of bytes of fresh memory, of the work behind the
// allocation columns, as a share of CPU; zero if it was not measured.
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
		// Code that uses fresh lines in sequence waits for several at a time, and never for
		// longer than it runs.
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
