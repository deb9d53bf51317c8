package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestShrinkKeepsTheTotal: whatever the split, the estimates of all sites add
// up to the samples seen, and lie within their intervals.
func TestShrinkKeepsTheTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + r.IntN(40)
		counts, weights := make([]float64, n), make([]float64, n)
		total := 0.0
		for i := range counts {
			counts[i] = math.Floor(r.ExpFloat64() * 5)
			weights[i] = math.Max(0, r.ExpFloat64()-0.3)
			total += counts[i]
		}
		sum := 0.0
		for i, v := range Shrink(counts, weights) {
			sum += v.Value
			if v.Low > v.Value+1e-9 || v.High < v.Value-1e-9 || v.Low < 0 || math.IsNaN(v.Value) {
				t.Fatalf("site %d of %v (weights %v): interval %+v", i, counts, weights, v)
			}
		}
		if math.Abs(sum-total) > 1e-9*math.Max(total, 1) {
			t.Fatalf("estimates add up to %v, want %v", sum, total)
		}
	}
}

// TestShrinkBeatsRawCounts: where cost really follows the weights up to some
// scatter, the estimate's squared error is below that of the raw counts.
func TestShrinkBeatsRawCounts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var raw, shrunk float64
	for range 300 {
		n := 30
		counts, weights, truth := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range counts {
			weights[i] = r.ExpFloat64() * 4
			truth[i] = weights[i] * math.Exp(0.3*r.NormFloat64())
			counts[i] = poisson(r, truth[i])
		}
		for i, v := range Shrink(counts, weights) {
			raw += (counts[i] - truth[i]) * (counts[i] - truth[i])
			shrunk += (v.Value - truth[i]) * (v.Value - truth[i])
		}
	}
	if shrunk > 0.7*raw {
		t.Errorf("squared error %.0f, raw counts %.0f: want at most 70 %% of it", shrunk, raw)
	}
}

// TestShrinkTrustsManySamples: a site with many samples is not moved.
func TestShrinkTrustsManySamples(t *testing.T) {
	got := Shrink([]float64{10000, 100}, []float64{1, 1})
	if math.Abs(got[0].Value-10000) > 300 {
		t.Errorf("10000 samples became %v", got[0])
	}
}

func poisson(r *rand.Rand, mean float64) float64 {
	k, p := 0.0, math.Exp(-mean)
	for u, f := r.Float64(), p; u > f && k < 1000; {
		k++
		p *= mean / k
		f += p
	}
	return k
}

func TestFitWeights(t *testing.T) {
	f := func(samples, objects, bytes []float64, a, b float64) {
		t.Helper()
		ga, gb := FitWeights(samples, objects, bytes)
		if math.Abs(ga-a) > 1e-6 || math.Abs(gb-b) > 1e-6 {
			t.Errorf("fitWeights(%v, %v, %v) = %v, %v, want %v, %v", samples, objects, bytes, ga, gb, a, b)
		}
	}
	f([]float64{2, 4, 12}, []float64{1, 2, 1}, []float64{0, 0, 10}, 2, 1)
	f([]float64{0, 0}, []float64{1, 2}, []float64{10, 20}, 1, 0) // no samples: by objects
	f([]float64{10, 20}, []float64{0, 0}, []float64{5, 10}, 0, 2)
}
