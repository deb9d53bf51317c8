package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
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
	c := r.run.CycleCost
	if c == nil || r.charged <= 0 || r.period <= 0 {
		return stats.Interval{}
	}
	perCycle := float64(len(r.collector.automatic())) * r.cyclesAlone() / (r.charged * r.period) / 1e9
	whole := c.NS.Scale(perCycle)
	// Idle marking is in no share, but in what the process used.
	shown := r.collected.Value + r.assists() + r.buckets[stack.BucketMarkIdle]/r.charged - r.sweptByBytes(c.Times)
	sure := (r.collected.High - r.collected.Low) / 2
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
	own := r.buckets[stack.BucketApp] / r.charged
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
	return r.buckets[stack.BucketSweep] / r.charged * (grown - 1) / (times - 1)
}

// medianHeaps are the live heap and the heap goal of the run's collections, in
// bytes.
func (r *runCosts) medianHeaps() (live, goal float64) {
	var lives, goals []float64
	for _, c := range r.collector.automatic() {
		lives, goals = append(lives, roundedUp(c.HeapLive)), append(goals, float64(c.Goal))
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
	c := r.run.FreshLine
	if c == nil || sec <= 0 || bytes <= 0 {
		return stats.Interval{}
	}
	own := r.buckets[stack.BucketApp] / r.charged * bytes / max(r.allBytes(), bytes)
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
