package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Interval is a value with its 95 % interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// contains reports whether v lies in the interval.
func (i Interval) contains(v float64) bool { return i.Low <= v && v <= i.High }

// known reports whether the interval tells a share of CPU within a fifth of it,
// or a point, to either side.
func (i Interval) known() bool {
	return max(i.High-i.Value, i.Value-i.Low) <= max(0.2*math.Abs(i.Value), targetPoints)
}

// sign is -1 or 1 where the whole interval lies on that side of zero, else 0.
func (i Interval) sign() int {
	switch {
	case i.Low > 0:
		return 1
	case i.High < 0:
		return -1
	}
	return 0
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// medianInterval returns the median with its percentile bootstrap interval.
// The resampling is seeded: equal input, equal output.
func medianInterval(v []float64) Interval {
	const resamples = 4000
	r := rand.New(rand.NewPCG(1, uint64(len(v))))
	medians := make([]float64, resamples)
	draw := make([]float64, len(v))
	for i := range medians {
		for k := range draw {
			draw[k] = v[r.IntN(len(v))]
		}
		medians[i] = median(draw)
	}
	slices.Sort(medians)
	return Interval{median(v), medians[resamples*25/1000], medians[resamples*975/1000]}
}
