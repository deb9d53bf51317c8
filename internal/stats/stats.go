// Package stats holds the sampling statistics that every figure of a report
// needs: point values with their interval, and the laws that give intervals to
// counts. It is pure: no clocks, no files, no randomness.
package stats

import "math"

// Interval is a value with a two-sided 95 % confidence interval. The three
// share one unit, which the holder names. The zero value is an exact zero.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Exact returns v as an interval without width.
func Exact(v float64) Interval { return Interval{v, v, v} }

// Scale returns the interval times k. A negative k swaps the bounds.
func (i Interval) Scale(k float64) Interval {
	s := Interval{i.Value * k, i.Low * k, i.High * k}
	if k < 0 {
		s.Low, s.High = s.High, s.Low
	}
	return s
}

// Add returns the sum of two independent quantities: half-widths add in
// quadrature, each side for itself.
func (i Interval) Add(j Interval) Interval {
	v := i.Value + j.Value
	return Interval{
		v,
		v - math.Hypot(i.Value-i.Low, j.Value-j.Low),
		v + math.Hypot(i.High-i.Value, j.High-j.Value),
	}
}

// Clip returns the interval with all three figures brought between two bounds.
func (i Interval) Clip(low, high float64) Interval {
	in := func(v float64) float64 { return math.Min(math.Max(v, low), high) }
	return Interval{in(i.Value), in(i.Low), in(i.High)}
}

// Overlaps reports whether two intervals share a point.
func (i Interval) Overlaps(j Interval) bool { return i.Low <= j.High && j.Low <= i.High }

// Z95 is the standard normal quantile of a two-sided 95 % interval.
const Z95 = 1.959963984540054

// Poisson returns the 95 % interval for the mean of a Poisson count of n
// events, by Byar's approximation to the exact interval (Breslow and Day,
// Statistical Methods in Cancer Research II, 1987, p. 69); it is within 1 % of
// the exact bounds from n = 2 on. n need not be whole.
func Poisson(n float64) Interval {
	if n <= 0 {
		return Interval{0, 0, 3.689} // -ln(0.025)
	}
	low := n * math.Pow(math.Max(0, 1-1/(9*n)-Z95/(3*math.Sqrt(n))), 3)
	m := n + 1
	return Interval{n, low, m * math.Pow(1-1/(9*m)+Z95/(3*math.Sqrt(m)), 3)}
}

// Share returns the 95 % Wilson interval of a share: k of n samples fell into
// it (Wilson, "Probable inference, the law of succession, and statistical
// inference", 1927). k and n need not be whole. n = 0 gives everything from 0
// to 1.
func Share(k, n float64) Interval {
	if n <= 0 {
		return Interval{0, 0, 1}
	}
	const z2 = Z95 * Z95
	p := math.Min(math.Max(k/n, 0), 1)
	mid := (p + z2/(2*n)) / (1 + z2/n)
	half := Z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return Interval{p, math.Min(math.Max(0, mid-half), p), math.Max(math.Min(1, mid+half), p)}
}
