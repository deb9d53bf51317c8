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

// unsureLines is how far a line's cost may lie beyond what was measured: the
// program may use its live heap less than line by line, which is why nothing
// at all is possible too. In the programs of the lab that a removal resolved, a
// line cost up to about as often more as less.
const unsureLines = 2

// caches is what so many bytes of fresh memory, of the work behind the
// allocation columns, cost the program through the caches, as a share of CPU;
// zero where the recording does not tell.
func (r *runCosts) caches(bytes float64) stats.Interval {
	sec := r.cpuSecondsOfAllocs()
	c := r.run.FreshLine
	if c == nil || sec <= 0 || bytes <= 0 {
		return stats.Interval{}
	}
	v := bytes / evidence.CacheLine * c.NS.Value / 1e9 / sec
	// The loop did nothing but use lines again and lost this part of its time.
	// No program loses more, however much fresh memory it takes.
	most := 0.0
	if c.UseNS > 0 {
		most = c.NS.Value / c.UseNS * r.buckets[bucketApp] / r.charged * bytes / max(r.allBytes(), bytes)
	}
	v = min(v, most)
	return stats.Interval{Value: v, Low: 0, High: unsureLines * v}
}
