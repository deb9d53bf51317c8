package stats

import (
	"math"
)

// Shrink estimates how a bucket of CPU samples spreads over sites. counts are
// the samples seen at each site; weights say how a bucket would spread if cost
// followed the allocation profile, whose counts are far larger. The estimate
// is the gamma-Poisson (empirical Bayes) posterior mean: sites with many
// samples keep what was seen, sites with few lean on the weights. How far real
// sites scatter round the weights is measured from the samples themselves, by
// the method of moments. The values add up to the sum of counts.
//
// See Efron and Morris, "Stein's Paradox in Statistics", 1977, for why this
// has a smaller error than the raw counts at every site together.
func Shrink(counts, weights []float64) []Interval {
	total, wsum := 0.0, 0.0
	for i := range counts {
		total += counts[i]
		wsum += weights[i]
	}
	out := make([]Interval, len(counts))
	if total == 0 {
		return out
	}
	prior := make([]float64, len(counts))
	if wsum > 0 {
		for i, w := range weights {
			prior[i] = total * w / wsum
		}
	}
	alpha := 1 / scatter(counts, prior)
	sum := 0.0
	for i, k := range counts {
		v := k
		if prior[i] > 0 {
			v = (k + alpha) / (1 + alpha/prior[i])
		}
		out[i] = gammaInterval(v, k+alpha)
		if prior[i] == 0 {
			out[i] = Poisson(k)
			if k == 0 {
				out[i] = Interval{}
			}
		}
		sum += v
	}
	for i := range out {
		out[i] = out[i].Scale(total / sum)
	}
	return out
}

// scatter is the squared relative spread of sites round their prior beyond
// what counting noise explains.
func scatter(counts, prior []float64) float64 {
	over, base := 0.0, 0.0
	for i, k := range counts {
		d := k - prior[i]
		over += d*d - prior[i]
		base += prior[i] * prior[i]
	}
	if base == 0 {
		return 1
	}
	return math.Min(math.Max(over/base, 0.01), 4)
}

// gammaInterval is the 95 % interval of a gamma variable with the given mean
// and shape, by the Wilson-Hilferty cube-root approximation.
func gammaInterval(mean, shape float64) Interval {
	c := 1 / (9 * shape)
	q := func(z float64) float64 { return mean * math.Pow(math.Max(0, 1-c+z*math.Sqrt(c)), 3) }
	return Interval{Value: mean, Low: q(-Z95), High: q(Z95)}
}

// FitWeights returns the non-negative a and b that best explain samples as
// a·objects + b·bytes, weighted by the counting noise. When the samples cannot
// tell, cost follows objects.
func FitWeights(samples, objects, bytes []float64) (a, b float64) {
	var oo, ob, bb, so, sb float64
	for i, k := range samples {
		w := 1 / (1 + k)
		oo += w * objects[i] * objects[i]
		ob += w * objects[i] * bytes[i]
		bb += w * bytes[i] * bytes[i]
		so += w * k * objects[i]
		sb += w * k * bytes[i]
	}
	if det := oo*bb - ob*ob; det > 1e-9*oo*bb {
		a, b = (so*bb-sb*ob)/det, (sb*oo-so*ob)/det
	}
	switch {
	case a > 0 && b >= 0:
		return a, b
	case a <= 0 && bb > 0 && sb > 0:
		return 0, sb / bb
	}
	return 1, 0
}
