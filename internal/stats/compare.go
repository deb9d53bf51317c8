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

// exactly is the number of values up to which tests and bounds are those of the exact distribution; it takes time of
// order n³, and beyond that the normal one differs from it by less than one rank in a thousand.
const exactly = 200

// signRank is how many values can be cut off at either end of n, sorted, so that
// the rest still spans the median with 95 % confidence: the largest k for which
// P(Binomial(n, 1/2) <= k) is at most 2.5 %, or 0.
func signRank(n int) int {
	if n > exactly {
		return int((float64(n) - 1 - Z95*math.Sqrt(float64(n))) / 2)
	}
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
// It takes time of order n log n for n differences.
func Shift(diffs []float64) Interval {
	n := len(diffs)
	if n == 0 {
		nan := math.NaN()
		return Interval{nan, nan, nan}
	}
	w := pairMeans(slices.Sorted(slices.Values(diffs)))
	all := n * (n + 1) / 2
	middle := (w.at((all-1)/2) + w.at(all/2)) / 2
	k, ok := rankCut(n)
	if !ok {
		return Interval{middle, math.Inf(-1), math.Inf(1)}
	}
	return Interval{middle, w.at(k), w.at(all - 1 - k)}
}

// pairMeans are the means of all pairs of sorted values, each value with itself among them.
type pairMeans []float64

// at is the mean at place k in order, which counts from 0. It is found between the smallest and the largest by
// bisection over the numbers that a float64 can be.
func (w pairMeans) at(k int) float64 {
	low, high := ordinal(w[0]), ordinal(w[len(w)-1])
	for low < high {
		mid := low + (high-low)/2
		if w.upTo(number(mid)) > k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return number(low) + 0 // never -0
}

// upTo counts the means that are at most x.
func (w pairMeans) upTo(x float64) (n int) {
	j := len(w) - 1
	for i, a := range w {
		for j >= i && (a+w[j])/2 > x {
			j--
		}
		if j < i {
			return n
		}
		n += j - i + 1
	}
	return n
}

// ordinal numbers the finite values of float64 by their size, and number is the value with a number.
func ordinal(v float64) uint64 {
	b := math.Float64bits(v)
	if b>>63 == 0 {
		return b | 1<<63
	}
	return ^b
}

func number(o uint64) float64 {
	if o>>63 == 1 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}

// rankCut is how many means can be cut off at either end: the largest k with
// P(W <= k) <= 2.5 % for the signed-rank statistic W of n differences.
func rankCut(n int) (k int, ok bool) {
	if m := float64(n); n > exactly {
		return int(m*(m+1)/4 - 0.5 - Z95*math.Sqrt(m*(m+1)*(2*m+1)/24)), true
	}
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
// the other sign. It is exact, with ties too, given their ranks, as
// long as the order within each pair was drawn by lot; noise that comes in
// bursts or drifts does not spoil it. Differences of zero count for nothing. Of more than
// 200 differences it is that of the normal distribution with the same variance.
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
	if len(sizes) > exactly {
		squares := 0.0
		for _, r := range ranks {
			squares += float64(r) * float64(r)
		}
		return math.Min(1, math.Erfc((float64(max(up, all-up))-float64(all)/2-1)/math.Sqrt(squares/2)))
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
