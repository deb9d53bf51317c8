package cycles

import "math"

// Distribution is the distribution of a figure over the cycles of a log: times are in
// nanoseconds, sizes in bytes. Count, Min, Max and Total are exact, the quantiles within 2.2
// %: gctrace itself prints two or three digits.
type Distribution struct {
	Count              int64
	Min, P50, P90, P99 float64
	Max, Total         float64
}

const (
	perOctave = 32 // buckets of a histogram between a value and its double
	octaves   = 63
)

// histogram counts values of any size in constant memory. Values below 1 count as 0. The
// zero value is empty and ready to use.
type histogram struct {
	buckets         []bucket
	zero, count     int64
	min, max, total float64
}

type bucket struct {
	count int64
	total float64
}

func (h *histogram) add(v float64) {
	v = math.Max(v, 0)
	if h.count == 0 || v < h.min {
		h.min = v
	}
	h.max = math.Max(h.max, v)
	h.total += v
	h.count++
	if v < 1 {
		h.zero++
		return
	}
	if h.buckets == nil {
		h.buckets = make([]bucket, octaves*perOctave)
	}
	b := &h.buckets[min(int(math.Log2(v)*perOctave), len(h.buckets)-1)]
	b.count++
	b.total += v
}

func (h *histogram) distribution() Distribution {
	return Distribution{Count: h.count, Min: h.min, P50: h.quantile(0.5), P90: h.quantile(0.9), P99: h.quantile(0.99), Max: h.max, Total: h.total}
}

// quantile is the value below which a share q of the values is: the mean of its bucket.
func (h *histogram) quantile(q float64) float64 {
	rank := int64(math.Ceil(q * float64(h.count)))
	seen := h.zero
	if rank <= seen {
		return h.min
	}
	for _, b := range h.buckets {
		if seen += b.count; seen >= rank {
			return b.total / float64(b.count)
		}
	}
	return h.max
}
