package stats

import (
	"math"
	"sort"
)

// MedianOf returns the median of v, 0 of none.
func MedianOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := append([]float64(nil), v...)
	sort.Float64s(s)
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// RelativeWidth is half the interval's width over its value.
func RelativeWidth(i Interval) float64 {
	if i.Value == 0 {
		return 0
	}
	return (i.High - i.Low) / 2 / math.Abs(i.Value)
}

// RelativeError is the 95 % relative error of a count of sampled events.
func RelativeError(events float64) float64 {
	if math.IsInf(events, 1) {
		return 0
	}
	return Z95 / math.Sqrt(math.Max(events, 0.5))
}

// Spread is a value with a relative error, never across zero.
func Spread(v, relative float64) Interval {
	low, high := v/(1+relative), v*(1+relative)
	return Interval{Value: v, Low: math.Min(low, high), High: math.Max(low, high)}
}
