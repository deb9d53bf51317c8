package load

import (
	"math"
	"math/bits"
	"time"
)

// Histogram counts durations in buckets of 1.6 % width from a microsecond to
// more than an hour. The zero value is empty. It is not safe for concurrent use.
type Histogram struct {
	counts [buckets]int64
	n      int64
	max    time.Duration
}

// Each doubling of microseconds has 64 buckets; below 64 µs each has its own.
const (
	perDoubling = 64
	doublings   = 32
	buckets     = perDoubling * doublings
)

// Record counts one duration.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(d)]++
	h.n++
	h.max = max(h.max, d)
}

// bucket returns the index of a duration.
func bucket(d time.Duration) int {
	us := uint64(d / time.Microsecond)
	if us < perDoubling {
		return int(us)
	}
	// The leading bit gives the doubling, the next six the bucket.
	shift := bits.Len64(us) - 7
	return min(perDoubling*(shift+1)+int(us>>shift)-perDoubling, buckets-1)
}

// lower returns the smallest duration of a bucket.
func lower(b int) time.Duration {
	if b < perDoubling {
		return time.Duration(b) * time.Microsecond
	}
	shift := b/perDoubling - 1
	return time.Duration(uint64(perDoubling+b%perDoubling)<<shift) * time.Microsecond
}

// Add adds the counts of another histogram.
func (h *Histogram) Add(o *Histogram) {
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// Max returns the largest duration, exactly.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the duration that a fraction q, 0 to 1, of the durations does not
// exceed, with the precision of a bucket. It returns 0 if there are none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	rank := max(1, int64(math.Ceil(q*float64(h.n))))
	seen := int64(0)
	for i, n := range h.counts {
		// The last bucket has no upper end.
		if seen += n; seen >= rank && i < buckets-1 {
			return min(lower(i+1), h.max)
		}
	}
	return h.max
}
