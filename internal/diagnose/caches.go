package diagnose

import (
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// What a site allocates is fresh memory: its lines come into the caches, and
// for each of them another one has to go, which the program may have used
// again. The samples of that waiting are the program's own, wherever it waits,
// so that no column of the site has them, and yet they go with it. What such a
// line costs was measured on the machine of the recording, by a loop that uses
// as much memory over again as the program keeps alive.

// unsureLines is how much more than was measured a line may cost, as far as the
// programs of the lab tell that a removal resolved. Less is possible down to
// nothing: the program may hardly come back to what it has used.
const unsureLines = 2

// caches is what so many bytes of fresh memory, of the work behind the
// allocation columns, cost the program through the caches, as a share of CPU;
// zero where the recording does not tell.
func (r *runCosts) caches(bytes float64) stats.Interval {
	sec := r.cpuSecondsOfAllocs()
	c := r.run.FreshLine
	if c == nil || c.UseNS <= 0 || sec <= 0 || bytes <= 0 {
		return stats.Interval{}
	}
	own := r.buckets[bucketApp] / r.charged * bytes / max(r.allBytes(), bytes)
	loses := func(ns float64) float64 {
		// The loop did nothing but use lines again and lost this part of its
		// time. No program loses more, however much fresh memory it takes.
		return min(bytes/evidence.CacheLine*ns/1e9/sec, own*min(ns/c.UseNS, 1))
	}
	return stats.Interval{Value: loses(c.NS.Value), Low: 0, High: loses(max(unsureLines*c.NS.Value, c.NS.High))}
}
