package prove

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// exactRuns is how many runs a side needs before one and the same value in all
// of them counts as exact: a value that is one or the other by chance then
// passes for two different ones in less than 1 % of comparisons.
const exactRuns = 4

// compare fills in the changes of one benchmark's runs. Calls are made later,
// by judge, over all benchmarks together.
func compare(c *Comparison, kind string, gate []string) {
	var units []string
	for _, r := range c.Runs {
		for u := range r.Values {
			if !slices.Contains(units, u) {
				units = append(units, u)
			}
		}
	}
	c.Changes, c.Pairs = nil, pairsOf(c.Runs)
	for _, m := range metricsFor(kind, gate, units) {
		c.Changes = append(c.Changes, change(m, c.Runs))
	}
	c.Differs = workDiffers(c)
	for i := range c.Pauses {
		c.Pauses[i] = pausesOf(c.Runs, i)
	}
	answersDiffer(c)
}

// pairsOf counts the pairs of runs that are not made for the log of collections,
// whatever they measured.
func pairsOf(runs []Sample) int {
	var of [2]int
	for _, r := range runs {
		if !r.Collector {
			of[r.Side]++
		}
	}
	return min(of[0], of[1])
}

// muchMoreFail is by how much the shares of failed requests must differ, between
// any run of one side and any of the other, for it to be another thing that the
// two do.
const muchMoreFail = 0.01

// answersDiffer looks at the requests that fail under load. To answer with an
// error is little work, so it is no saving: where B fails more of them, B fails;
// where A does, there is nothing to compare with.
func answersDiffer(c *Comparison) {
	a, b := medianOf(c.Runs, 0, unitFailed), medianOf(c.Runs, 1, unitFailed)
	leastA, mostA := rangeOf(c.Runs, 0, unitFailed)
	leastB, mostB := rangeOf(c.Runs, 1, unitFailed)
	// On a machine that is too busy for the load, some fail now here and now there.
	switch {
	case leastB > mostA+muchMoreFail:
		c.Failed[1] = fmt.Sprintf("%.3g %% of the load's requests, %.3g %% in A", b*100, a*100)
	case leastA > mostB+muchMoreFail:
		c.Differs = append(c.Differs, fmt.Sprintf("%.3g %% of the load's requests fail in A, %.3g %% in %s", a*100, b*100, c.letter(true)))
	}
}

// rangeOf are the least and the largest value of a unit on one side, 0 without
// any.
func rangeOf(runs []Sample, side int, unit string) (least, most float64) {
	found := false
	for _, r := range runs {
		v, ok := r.Values[unit]
		if !ok || r.Side != side {
			continue
		}
		if !found {
			least, most, found = v, v, true
		}
		least, most = math.Min(least, v), math.Max(most, v)
	}
	return least, most
}

// medianOf is the median of a unit on one side, 0 without a value.
func medianOf(runs []Sample, side int, unit string) float64 {
	var values []float64
	for _, r := range runs {
		if v, ok := r.Values[unit]; ok && r.Side == side {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0
	}
	return stats.Median(values).Value
}

// change compares one metric. Runs that did not measure it are passed over.
func change(m Metric, runs []Sample) Change {
	var values [2][]float64
	inPair := map[int]*[2]float64{}
	has := map[int]int{}
	var order []int
	for _, r := range runs {
		v, ok := r.Values[m.Unit]
		if !ok {
			continue
		}
		values[r.Side] = append(values[r.Side], v)
		if inPair[r.Pair] == nil {
			inPair[r.Pair] = new([2]float64)
			order = append(order, r.Pair)
		}
		inPair[r.Pair][r.Side] = v
		has[r.Pair] |= 1 << r.Side
	}
	var a, b []float64
	for _, p := range order {
		if has[p] == 3 {
			a, b = append(a, inPair[p][0]), append(b, inPair[p][1])
		}
	}
	ch := Change{
		Metric: m,
		A:      stats.Median(values[0]),
		B:      stats.Median(values[1]),
		Runs:   RunCount{A: len(values[0]), B: len(values[1])},
		Tests:  Tests{P: math.NaN(), RankSumP: math.NaN(), AdjustedP: math.NaN()},
	}
	ch.Exact = m.Count && constant(values[0]) && constant(values[1])
	if ch.Exact {
		ch.Delta = stats.Exact(ch.B.Value/ch.A.Value - 1)
		if ch.A.Value == ch.B.Value {
			ch.Delta = stats.Interval{}
		}
		return ch
	}
	ch.Separated = m.Count && separated(values[0], values[1])
	ch.vary(a, b, values)
	return ch
}

// farSeparated is by how many times the scatter of a side two groups of counts
// must be apart to be called different without a test. What makes a count
// vary, such as memory that is allocated now and then and spread over all
// operations, is small beside a change of what an operation allocates.
const farSeparated = 10

// separated tells whether counts that vary are as good as exact: the two sides lie
// far apart, in as many runs as exact values need.
func separated(a, b []float64) bool {
	if len(a) < exactRuns || len(b) < exactRuns {
		return false
	}
	scatter := math.Max(slices.Max(a)-slices.Min(a), slices.Max(b)-slices.Min(b))
	gap := math.Max(slices.Min(a)-slices.Max(b), slices.Min(b)-slices.Max(a))
	// Package testing rounds to whole numbers, which makes one of the scatter.
	return gap > scatter && gap > farSeparated*math.Max(scatter-1, 0)
}

// vary compares values that differ from run to run: pairs of neighbouring
// runs by their signed ranks, and the two samples as benchstat does.
func (ch *Change) vary(a, b []float64, values [2][]float64) {
	ch.Delta = stats.Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
	if len(a) > 0 {
		diffs, ratio := differences(a, b)
		ch.Tests.P = stats.SignedRank(diffs)
		d := stats.Shift(diffs)
		switch {
		case ratio:
			ch.Delta = stats.Interval{Value: math.Expm1(d.Value), Low: math.Expm1(d.Low), High: math.Expm1(d.High)}
		case ch.A.Value != 0:
			ch.Delta = d.Scale(1 / ch.A.Value)
		case d == stats.Interval{}:
			ch.Delta = d
		}
		if math.IsInf(ch.Delta.High, 0) && ch.A.Value != 0 {
			ch.Delta.Value = ch.B.Value/ch.A.Value - 1 // too few pairs for an interval: the change of the medians that stand beside it
		}
	}
	if len(values[0]) == 0 || len(values[1]) == 0 {
		return
	}
	t := benchmath.DefaultThresholds
	cmp := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(values[0]), &t), benchmath.NewSample(slices.Clone(values[1]), &t))
	ch.Tests.RankSumP = cmp.P
	if !ch.Count && ch.Judged {
		for _, w := range cmp.Warnings {
			ch.Warnings = append(ch.Warnings, w.Error())
		}
	}
}

// differences are logarithms of ratios where all values are positive, so that
// a half and a double lie equally far off.
func differences(a, b []float64) (diffs []float64, ratio bool) {
	positive := func(v float64) bool { return v > 0 }
	ratio = !slices.ContainsFunc(a, not(positive)) && !slices.ContainsFunc(b, not(positive))
	diffs = make([]float64, len(a))
	for i := range a {
		if ratio {
			diffs[i] = math.Log(b[i] / a[i])
		} else {
			diffs[i] = b[i] - a[i]
		}
	}
	return diffs, ratio
}

func not(f func(float64) bool) func(float64) bool { return func(v float64) bool { return !f(v) } }

func constant(vs []float64) bool {
	return len(vs) >= exactRuns && slices.Min(vs) == slices.Max(vs)
}

// judge makes the calls over all benchmarks together, so that comparing a
// program with itself calls any difference with probability Alpha at most,
// however many benchmarks there are.
func judge(cs []Comparison, r Rules) {
	r = r.withDefaults()
	var family []*Change
	var ps []float64
	for i := range cs {
		for k := range cs[i].Changes {
			ch := &cs[i].Changes[k]
			if ch.Judged && ch.varies() && !math.IsNaN(ch.Tests.P) && len(cs[i].Differs) == 0 {
				family, ps = append(family, ch), append(ps, ch.Tests.P)
			}
		}
	}
	for i, p := range stats.Holm(ps) {
		family[i].Tests.AdjustedP = p
	}
	for i := range cs {
		for k := range cs[i].Changes {
			cs[i].Changes[k].call(r)
		}
		cs[i].sumUp()
	}
}

// testsIn is how many calls would have to be adjusted for each other.
func testsIn(cs []Comparison) int {
	n := 0
	for _, c := range cs {
		for _, ch := range c.Changes {
			if ch.Judged && ch.varies() && (ch.Runs.A > 0 || ch.Runs.B > 0) {
				n++
			}
		}
	}
	return n
}

// call decides on one metric.
func (ch *Change) call(r Rules) {
	switch {
	case !ch.Judged:
		ch.Outcome = NotJudged
	case ch.Runs.A == 0 || ch.Runs.B == 0:
		ch.Outcome = Unclear
	case ch.Exact && ch.A.Value == ch.B.Value:
		ch.Outcome = Same
	case ch.Exact, ch.Separated && ch.counts(r):
		ch.Outcome = ch.direction()
	case ch.Separated:
		ch.Outcome = Same
	case ch.Tests.AdjustedP <= r.Alpha && ch.Tests.RankSumP <= 0.05 && ch.counts(r):
		ch.Outcome = ch.direction()
	case ch.Tests.P == 1 && ch.A.Value == ch.B.Value && ch.Delta == stats.Interval{}, ch.narrow(r.MinEffect + r.Precision):
		ch.Outcome = Same
	default:
		ch.Outcome = Unclear
	}
}

// varies tells that it takes a test to call a difference.
func (ch *Change) varies() bool { return !ch.Exact && !ch.Separated }

// counts tells whether the change is large enough to matter. One from nothing
// to something always is.
func (ch *Change) counts(r Rules) bool {
	return math.IsNaN(ch.Delta.Value) || math.Abs(ch.Delta.Value) >= r.MinEffect
}

func (ch *Change) narrow(margin float64) bool {
	return ch.Delta.Low > -margin && ch.Delta.High < margin
}

func (ch *Change) direction() Outcome {
	up := ch.Delta.Value > 0
	if math.IsNaN(ch.Delta.Value) || math.IsInf(ch.Delta.Value, 0) {
		up = ch.B.Value > ch.A.Value
	}
	switch {
	case ch.Sense == 0:
		return Unclear
	case up == (ch.Sense > 0):
		return Better
	}
	return Worse
}

// halfWidth is the larger half of the interval of the change; infinite while
// there is none.
func (ch *Change) halfWidth() float64 {
	h := math.Max(ch.Delta.High-ch.Delta.Value, ch.Delta.Value-ch.Delta.Low)
	if math.IsNaN(h) {
		return math.Inf(1)
	}
	return h
}

// sumUp makes the outcome of a benchmark from those of its metrics.
func (c *Comparison) sumUp() {
	better, worse, unclear, judged := false, false, false, false
	for _, ch := range c.Changes {
		judged = judged || ch.Judged
		better = better || ch.Outcome == Better
		worse = worse || ch.Outcome == Worse
		unclear = unclear || ch.Outcome == Unclear
	}
	switch {
	case c.Failed[1] != "" && c.Failed[0] == "":
		c.Outcome = Worse
	case c.Failed[0] != "" || len(c.Differs) > 0 || len(c.Changes) == 0:
		c.Outcome = Incomparable
	case better && worse:
		c.Outcome = Mixed
	case better:
		c.Outcome = Better
	case worse:
		c.Outcome = Worse
	case unclear || !judged:
		c.Outcome = Unclear
	default:
		c.Outcome = Same
	}
	if !judged && len(c.Runs) > 0 {
		c.Warnings = append(c.Warnings, "the runs measured nothing that is judged")
	}
	// What fails is fast.
	if c.Outcome == Incomparable || c.Failed[1] != "" {
		for i := range c.Changes {
			c.Changes[i].Outcome = NotJudged
		}
	}
}

// describe says a change in words: "12 → 3 allocs/op".
func (ch Change) describe() string {
	if ch.Count && ch.Exact {
		return fmt.Sprintf("%v → %v %s", ch.A.Value, ch.B.Value, ch.Unit)
	}
	return fmt.Sprintf("%+.1f %% %s", ch.Delta.Value*100, ch.Unit)
}
