package stats

import (
	"math"
	"slices"
	"sort"
)

// Median returns the median of xs with the order statistics that bound it with
// at least 95 % confidence, whatever the distribution. Below six values there
// are no such bounds: Low and High are then the smallest and the largest value.
// No values give NaN throughout. xs is left as it is.
func Median(xs []float64) Interval {
	if len(xs) == 0 {
		nan := math.NaN()
		return Interval{nan, nan, nan}
	}
	s := slices.Clone(xs)
	sort.Float64s(s)
	k := signRank(len(s))
	return Interval{middle(s), s[k], s[len(s)-1-k]}
}

// signRank is how many values can be cut off at either end of n, sorted, so that
// the rest still spans the median with 95 % confidence: the largest k for which
// P(Binomial(n, 1/2) <= k) is at most 2.5 %, or 0.
func signRank(n int) int {
	term := math.Pow(0.5, float64(n)) // P(0)
	tail := 0.0
	for k := 0; k < n; k++ {
		tail += term
		if tail > 0.025 || term == 0 {
			return max(k-1, 0)
		}
		term *= float64(n-k) / float64(k+1)
	}
	return 0
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}

// Shift estimates by how much paired differences lie off zero: the median of
// the means of all their pairs (Hodges and Lehmann, 1963), with the 95 %
// interval that [SignedRank] does not reject. Fewer than six differences
// cannot have such an interval: its bounds are then infinite. None give NaN.
//
// It is of order n² in time and memory for n differences.
func Shift(diffs []float64) Interval {
	n := len(diffs)
	if n == 0 {
		nan := math.NaN()
		return Interval{nan, nan, nan}
	}
	means := make([]float64, 0, n*(n+1)/2)
	for i, a := range diffs {
		for _, b := range diffs[i:] {
			means = append(means, (a+b)/2)
		}
	}
	sort.Float64s(means)
	k, ok := rankCut(n)
	if !ok {
		return Interval{middle(means), math.Inf(-1), math.Inf(1)}
	}
	return Interval{middle(means), means[k], means[len(means)-1-k]}
}

// rankCut is how many means can be cut off at either end: the largest k with
// P(W <= k) <= 2.5 % for the signed-rank statistic W of n differences.
func rankCut(n int) (k int, ok bool) {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	p := rankSums(ranks)
	tail := 0.0
	for w := 0; w < len(p); w += 2 {
		tail += p[w]
		if tail > 0.025 {
			return w/2 - 1, w > 0
		}
	}
	return 0, false
}

// SignedRank returns the two-sided p-value of Wilcoxon's signed-rank test: how
// probable differences this far to one side are if each was as likely to have
// the other sign. It is exact for any n and with ties, given their ranks, as
// long as the order within each pair was drawn by lot; noise that comes in
// bursts or drifts does not spoil it. Differences of zero count for nothing.
func SignedRank(diffs []float64) float64 {
	var sizes []float64
	for _, d := range diffs {
		if d != 0 && !math.IsNaN(d) {
			sizes = append(sizes, d)
		}
	}
	if len(sizes) == 0 {
		return 1
	}
	sort.Slice(sizes, func(i, j int) bool { return math.Abs(sizes[i]) < math.Abs(sizes[j]) })
	ranks := doubledRanks(sizes)
	up, all := 0, 0
	for i, d := range sizes {
		all += ranks[i]
		if d > 0 {
			up += ranks[i]
		}
	}
	tail := 0.0
	for _, p := range rankSums(ranks)[:min(up, all-up)+1] {
		tail += p
	}
	return math.Min(1, 2*tail)
}

// doubledRanks are twice the ranks of the sizes of ds, which are sorted by
// size; ties share the mean of their ranks, which doubled is whole.
func doubledRanks(ds []float64) []int {
	ranks := make([]int, len(ds))
	for i := 0; i < len(ds); {
		j := i
		for j < len(ds) && math.Abs(ds[j]) == math.Abs(ds[i]) {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + j + 1
		}
		i = j
	}
	return ranks
}

// rankSums is the distribution of the sum of a random half of the ranks: each
// is in it with probability one half.
func rankSums(ranks []int) []float64 {
	all := 0
	for _, r := range ranks {
		all += r
	}
	p := make([]float64, all+1)
	p[0] = 1
	top := 0
	for _, r := range ranks {
		top += r
		for w := top; w >= 0; w-- {
			p[w] /= 2
			if w >= r {
				p[w] += p[w-r] / 2
			}
		}
	}
	return p
}

// PairsFor is the least number of pairs at which [SignedRank] can fall to
// alpha when tests of them are adjusted by [Holm]: below it, no difference can
// be called, however large.
func PairsFor(tests int, alpha float64) int {
	return max(6, int(math.Ceil(math.Log2(2*float64(max(tests, 1))/alpha))))
}

// Holm adjusts the p-values of tests that are made together, so that calling a
// difference where an adjusted one is at most alpha calls any false one with
// probability alpha at most, however the tests depend on each other (Holm,
// "A simple sequentially rejective multiple test procedure", 1979). The result
// is in the order of ps.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return ps[order[a]] < ps[order[b]] })
	out := make([]float64, len(ps))
	least := 0.0
	for i, at := range order {
		least = math.Max(least, math.Min(1, ps[at]*float64(len(ps)-i)))
		out[at] = least
	}
	return out
}
