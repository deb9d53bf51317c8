package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/perf/benchmath"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestMedian holds our bounds against those of benchmath, from the number of
// values on for which it has any. Ours cut off as many values at either end,
// while benchmath may cut off one more or less at one of them.
func TestMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 6; n <= 60; n++ {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = rng.NormFloat64()
		}
		got := stats.Median(xs)
		want := benchmath.AssumeNothing.Summary(benchmath.NewSample(xs, &benchmath.DefaultThresholds), 0.95)
		// NewSample has sorted the values.
		below, above := slices.Index(xs, want.Lo)-slices.Index(xs, got.Low), slices.Index(xs, want.Hi)-slices.Index(xs, got.High)
		if math.Abs(got.Value-want.Center) > 1e-12 || below*below+above*above > 1 {
			t.Errorf("Median of %d values = %v, want %v around [%v, %v]", n, got, want.Center, want.Lo, want.Hi)
		}
	}
	if got, want := stats.Median([]float64{3, 1, 2}), (stats.Interval{Value: 2, Low: 1, High: 3}); got != want {
		t.Errorf("Median of three values = %v, want %v", got, want)
	}
	if got := stats.Median(nil); !math.IsNaN(got.Value) {
		t.Errorf("Median of nothing = %v, want NaN", got)
	}
}

// TestSignedRank compares with all assignments of signs, one by one.
func TestSignedRank(t *testing.T) {
	f := func(diffs ...float64) {
		t.Helper()
		got, want := stats.SignedRank(diffs), bySigns(diffs)
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("SignedRank(%v) = %v, want %v", diffs, got, want)
		}
	}
	f()
	f(0, 0)
	f(1)
	f(1, 2, 3, 4, 5, 6)
	f(-1, -2, -3, -4, -5, -6)
	f(1, 1, 1, -1, 2, 2, 0, 3)
	f(0.3, -0.1, 0.25, 0.7, -0.65, 0.3, 0.31, 2, 5, -0.01)
}

func bySigns(diffs []float64) float64 {
	var ds []float64
	for _, d := range diffs {
		if d != 0 {
			ds = append(ds, d)
		}
	}
	rank := make([]float64, len(ds))
	for i, a := range ds {
		for _, b := range ds {
			switch {
			case math.Abs(b) < math.Abs(a):
				rank[i]++
			case math.Abs(b) == math.Abs(a):
				rank[i] += 0.5
			}
		}
		rank[i] += 0.5
	}
	off := func(up func(i int) bool) float64 {
		w := 0.0
		for i := range ds {
			if up(i) {
				w += rank[i]
			} else {
				w -= rank[i]
			}
		}
		return math.Abs(w)
	}
	seen, as := off(func(i int) bool { return ds[i] > 0 }), 0
	for signs := range 1 << len(ds) {
		if off(func(i int) bool { return signs>>i&1 == 1 }) >= seen-1e-9 {
			as++
		}
	}
	return float64(as) / float64(int(1)<<len(ds))
}

// TestShift checks that the interval is the test's: it leaves out zero exactly
// where the test rejects it.
func TestShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		diffs := make([]float64, 6+rng.IntN(15))
		for i := range diffs {
			diffs[i] = rng.NormFloat64() + 0.6
		}
		i, p := stats.Shift(diffs), stats.SignedRank(diffs)
		if out := i.Low > 0 || i.High < 0; out != (p <= 0.05) {
			t.Fatalf("Shift(%v) = %v, SignedRank = %v", diffs, i, p)
		}
		if i.Value < i.Low || i.Value > i.High {
			t.Fatalf("Shift(%v) = %v: value outside of its interval", diffs, i)
		}
	}
	if i := stats.Shift([]float64{1, 2, 3}); i.Value != 2 || !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) {
		t.Errorf("Shift of three = %v, want 2 without bounds", i)
	}
}

// TestShiftCounts checks the estimate against all means, written out, and that its bounds are those of the test
// also where both are of the normal distribution.
func TestShiftCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 7, 60, 201, 300} {
		diffs, means := make([]float64, n), []float64{}
		for i := range diffs {
			diffs[i] = math.Round(8*rng.NormFloat64()) / 8 // with ties, and zeros
		}
		for i, a := range diffs {
			for _, b := range diffs[i:] {
				means = append(means, (a+b)/2)
			}
		}
		slices.Sort(means)
		if got, want := stats.Shift(diffs).Value, (means[(len(means)-1)/2]+means[len(means)/2])/2; got != want {
			t.Errorf("%d differences: Shift = %v, want %v", n, got, want)
		}
	}
	few, rejected := 0, 0
	for range 400 {
		diffs := make([]float64, 201+rng.IntN(100))
		for i := range diffs {
			diffs[i] = rng.NormFloat64() + 0.14
		}
		i, p := stats.Shift(diffs), stats.SignedRank(diffs)
		out := i.Low > 0 || i.High < 0
		if out != (p <= 0.05) && math.Abs(p-0.05) > 1e-4 {
			t.Fatalf("%d differences: Shift = %v, SignedRank = %v", len(diffs), i, p)
		}
		if out {
			rejected++
		}
		if m := stats.Median(diffs); m.Low > 0.14 || m.High < 0.14 {
			few++
		}
	}
	if rejected < 100 || rejected > 350 {
		t.Errorf("%d of 400 lie off zero: the test is of one side only", rejected)
	}
	if few > 40 {
		t.Errorf("the interval of the median misses it in %d of 400", few)
	}
}

// BenchmarkShift is what a comparison of many pairs takes for each of its units.
func BenchmarkShift(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		rng := rand.New(rand.NewPCG(7, 8))
		diffs := make([]float64, n)
		for i := range diffs {
			diffs[i] = rng.NormFloat64()
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				stats.Shift(diffs)
				stats.SignedRank(diffs)
			}
		})
	}
}

func TestHolm(t *testing.T) {
	got := stats.Holm([]float64{0.01, 0.04, 0.03, 0.005})
	want := []float64{0.03, 0.06, 0.06, 0.02}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("Holm: %v, want %v", got, want)
			break
		}
	}
	if got := stats.Holm(nil); len(got) != 0 {
		t.Errorf("Holm(nil) = %v", got)
	}
}

// TestPairsFor checks that the number is the least that suffices.
func TestPairsFor(t *testing.T) {
	least := func(n int) float64 {
		diffs := make([]float64, n)
		for i := range diffs {
			diffs[i] = float64(i + 1)
		}
		return stats.SignedRank(diffs)
	}
	for _, tests := range []int{0, 1, 2, 10, 30, 1000} {
		n := stats.PairsFor(tests, 0.05)
		if p := least(n) * float64(tests); p > 0.05 {
			t.Errorf("PairsFor(%d) = %d, at which p is %v", tests, n, p)
		}
		if p := least(n-1) * float64(tests); n > 6 && p <= 0.05 {
			t.Errorf("PairsFor(%d) = %d, and one less suffices", tests, n)
		}
	}
}

// TestFalseAlarms draws families of tests without a difference, with noise that
// drifts and comes in bursts: at most alpha of them may call one.
func TestFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const families, tests, pairs = 2000, 10, 12
	alarms := 0
	for range families {
		ps := make([]float64, tests)
		for i := range ps {
			level := 0.0
			diffs := make([]float64, pairs)
			for k := range diffs {
				level = 0.9*level + rng.NormFloat64()
				first, second := level+0.2*rng.NormFloat64(), 0.9*level+rng.NormFloat64()
				if rng.IntN(2) == 0 {
					first, second = second, first
				}
				diffs[k] = second - first
			}
			ps[i] = stats.SignedRank(diffs)
		}
		for _, p := range stats.Holm(ps) {
			if p <= 0.05 {
				alarms++
				break
			}
		}
	}
	// Three standard deviations above 5 %.
	if limit := families*0.05 + 3*math.Sqrt(families*0.05*0.95); float64(alarms) > limit {
		t.Errorf("%d false alarms in %d families, want at most %.0f", alarms, families, limit)
	}
}
