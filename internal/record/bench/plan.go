package bench

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// probed is the result of a short first run of one benchmark.
type probed struct {
	pkg         int    // index into the packages under test
	name        string // with sub-benchmark path, without the -P suffix
	nsPerOp     float64
	bytesPerOp  float64
	allocsPerOp float64
}

// planned is the work chosen for one benchmark: the same number of operations in the
// timing and the collector pass, and fewer where every allocation is recorded.
type planned struct {
	probed
	ops      int64
	allocOps int64
	length   time.Duration // of the timing pass
	until    time.Time     // when its passes should end; zero without a budget
	end      time.Time     // when a pass that still runs is ended; zero without a budget
}

// room is how much time its passes have left.
func (p planned) room() time.Duration {
	if p.until.IsZero() {
		return math.MaxInt64
	}
	return time.Until(p.until)
}

// allow moves the end of a pass so that the next one has some time at least. Without a budget there is no end.
func (p *planned) allow(least time.Duration) {
	if end := time.Now().Add(least); !p.end.IsZero() && p.end.Before(end) {
		p.end = end
	}
}

// leastCounting is what the pass for allocations gets of a benchmark whose time is over: without it
// there is nothing to say of the benchmark, and one operation is enough.
const leastCounting = 2 * time.Second

// shareUntil is when the first of the rest should end if all are to end in time.
func shareUntil(now, until time.Time, rest []planned) time.Time {
	var all time.Duration
	for _, p := range rest {
		all += p.takes()
	}
	return now.Add(time.Duration(float64(until.Sub(now)) * rest[0].takes().Seconds() / all.Seconds()))
}

// within sets when the first of the rest should end, and when it is ended: after several times its share, so that
// one that hangs, or is much slower than when it was tried, leaves time for the others. The last is ended some time
// after the budget: on a busy machine passes take longer.
func within(until, end time.Time, rest []planned) planned {
	now := time.Now()
	p := rest[0]
	left := max(end.Sub(now), 0)
	p.until, p.end = shareUntil(now, until, rest), end.Add(left/4)
	if len(rest) > 1 {
		p.end = now.Add(min(4*max(p.until.Sub(now), 0)+time.Second, left/2))
	}
	return p
}

// allocRate is the sampling rate of the pass for allocations, in bytes: 1 records each. It is coarser where one
// operation makes more allocations than there is time to record.
func (p planned) allocRate() int64 {
	rate := int64(1)
	for bytes, n := p.bytesPerOp*float64(p.allocOps), p.allocsPerOp*float64(p.allocOps); min(n, bytes/float64(rate)) > 2*recordedAllocs; {
		rate *= 2
	}
	return rate
}

// quick reports whether the budget leaves no time for the pass at two settings of GOGC.
func (p planned) quick() bool { return p.length < shortBenchTime }

// lean reports whether there is a short timing pass only, and what is allocated.
func (p planned) lean() bool { return p.length <= leanBenchTime }

// takes is about how long the passes take.
func (p planned) takes() time.Duration {
	n, each := passes, perBenchmark
	switch {
	case p.lean():
		n, each = leanPasses, perLean
	case p.quick():
		n = quickPasses
	}
	return time.Duration(n*float64(p.length)) + each + p.beyond()
}

// beyond is how much longer the passes take because one operation takes longer than a timing pass: each has at least one.
func (p planned) beyond() time.Duration {
	more := time.Duration(p.nsPerOp*float64(p.ops)) - p.length
	if p.ops > 1 || more <= 0 {
		return 0
	}
	n := quickPasses
	if p.lean() {
		n = 2
	}
	return time.Duration(n * float64(more))
}

// drop leaves out benchmarks with so slow operations that they take more than an equal share of the budget, the slowest
// first, until the rest fits. One stays.
func drop(chosen []planned, budget time.Duration) (kept []planned, leftOut []probed) {
	for len(chosen) > 1 && needs(chosen) > budget {
		at := 0
		for i, p := range chosen {
			if p.beyond() > chosen[at].beyond() {
				at = i
			}
		}
		if chosen[at].beyond() <= budget/time.Duration(len(chosen)) {
			break
		}
		leftOut = append(leftOut, chosen[at].probed)
		chosen = slices.Delete(slices.Clone(chosen), at, at+1)
	}
	return chosen, leftOut
}

// Lengths of the passes. The timing pass gets half of a benchmark's time, the
// collector pass the same operations again without the profiler.
const (
	defaultBenchTime = 1500 * time.Millisecond // a timing pass when -bench names the benchmarks
	shortBenchTime   = 500 * time.Millisecond  // the shortest worth recording: 50 samples of one core
	longBenchTime    = 1500 * time.Millisecond
	// A benchmark takes two passes of equal length, about half of one for allocations, one
	// more if its heap is small, and up to one more if it collects often. Few benchmarks
	// have all of them.
	passes = 3.75
	// A budget for fewer than these benchmarks is spread over more, with shorter passes and
	// without the one at two settings of GOGC.
	fewBenchmarks  = 8
	quickBenchTime = 250 * time.Millisecond
	quickPasses    = 2.75
	// For fewer than these they are shorter still: ten samples of each of several say more of a package than
	// fifty of one.
	fewestBenchmarks = 4
	briefBenchTime   = 100 * time.Millisecond
	// A lean recording is a timing pass, which tells how long an operation takes, and the pass for allocations.
	leanBenchTime = 50 * time.Millisecond
	leanPasses    = 1.5
	perLean       = 100 * time.Millisecond
	// In addition, up to five processes start and end, each with the benchmark's set-up.
	perBenchmark = 200 * time.Millisecond
	// Recording an allocation with its stack costs one to two microseconds, so
	// this many take about half a second, a third of a long pass.
	recordedAllocs = 300_000
)

// plan spreads the budget over the benchmarks. A length of the timing pass that is
// given is fixed; then no budget applies. Benchmarks that do not fit are returned in
// leftOut. The budget then covers as many top-level benchmarks as possible.
func plan(all []probed, budget time.Duration, length gocmd.BenchTime) (chosen []planned, leftOut []probed) {
	allocs := float64(recordedAllocs)
	if !length.Given() {
		least, most, times := shortBenchTime, longBenchTime, passes
		fit := fits(budget, least, times)
		if fit < fewBenchmarks && fit < len(all) {
			least, most, times = quickBenchTime, shortBenchTime-1, quickPasses // a longer one has all passes
			fit = fits(budget, least, times)
		}
		if fit < fewestBenchmarks && fit < len(all) {
			least = briefBenchTime
			fit = fits(budget, least, times)
		}
		all, leftOut = spread(all, max(fit, 1))
		perBench := time.Duration((float64(budget)/float64(max(len(all), 1)) - float64(perBenchmark)) / times)
		length.Time = min(max(perBench, least), most)
		allocs *= length.Time.Seconds() / longBenchTime.Seconds()
	}
	for _, p := range all {
		chosen = append(chosen, p.planned(length, allocs))
	}
	return chosen, leftOut
}

// planned is the work for a timing pass of a length, with so many allocations recorded.
func (p probed) planned(length gocmd.BenchTime, allocs float64) planned {
	ns := math.Max(p.nsPerOp, 0.1)
	ops := cmp.Or(length.Ops, int64(math.Ceil(float64(length.Time.Nanoseconds())/ns)))
	allocOps := ops
	if p.allocsPerOp > 0 {
		allocOps = min(allocOps, int64(allocs/p.allocsPerOp))
	}
	return planned{probed: p, ops: max(ops, 1), allocOps: max(allocOps, 1), length: length.Of(ns)}
}

// planLean has as many benchmarks as possible recorded lean.
func planLean(all []probed, budget time.Duration) (chosen []planned, leftOut []probed) {
	all, leftOut = spread(all, max(int(budget/planned{length: leanBenchTime}.takes()), 1))
	for _, p := range all {
		chosen = append(chosen, p.planned(gocmd.BenchTime{Time: leanBenchTime}, recordedAllocs*leanBenchTime.Seconds()/longBenchTime.Seconds()))
	}
	return chosen, leftOut
}

// needs is how long the passes of several benchmarks take.
func needs(all []planned) time.Duration {
	sum := time.Duration(0)
	for _, p := range all {
		sum += p.takes()
	}
	return sum
}

// fits is the number of benchmarks that fit a budget with timing passes of a length.
func fits(budget, length time.Duration, passes float64) int {
	return int(float64(budget) / (passes*float64(length) + float64(perBenchmark)))
}

// timed is a timing pass: its operations, nanoseconds for each, and those of CPU time that it used in all.
type timed struct {
	ops           int64
	nsPerOp, used float64
}

// moreOps is how many operations a timing pass should repeat for its length of CPU time: its own
// where they are enough, or where there is no room for a second timing pass, the pass for
// allocations and that of the collector with more of them.
func moreOps(t timed, length, room time.Duration) int64 {
	want := float64(length.Nanoseconds())
	if t.used >= 0.6*want {
		return t.ops
	}
	more := float64(t.ops) * min(want/max(t.used, 1), 10)
	if most := float64(room.Nanoseconds()) / (2.5 * max(t.nsPerOp, 0.1)); more > most {
		more = most
		if more < 1.5*float64(t.ops) {
			return t.ops
		}
	}
	return int64(more)
}

// partFor is which part of the work of a timing pass, which took so long, the pass for allocations
// and that of the collector can do in the room that is left; a quarter at the least, so that there
// is something to read.
func partFor(room, took time.Duration) float64 {
	if took <= 0 {
		return 1
	}
	return min(max(float64(room)/(1.5*float64(took)), 0.25), 1)
}

// left says how long the recording of the rest takes, by the plan and by how much longer
// the first ones took.
func left(rest, done []planned, took time.Duration) time.Duration {
	var planned, was time.Duration
	for _, p := range rest {
		planned += p.takes()
	}
	for _, p := range done {
		was += p.takes()
	}
	if was > 0 {
		planned = time.Duration(float64(planned) * took.Seconds() / was.Seconds())
	}
	return planned
}

// probeTime is how long each benchmark is tried first: within a small budget, shorter.
func probeTime(budget time.Duration) time.Duration {
	return min(max(budget/2000, 5*time.Millisecond), 30*time.Millisecond)
}

// spread picks n benchmarks, one of each top-level benchmark in turn and within each
// those with the highest allocation rate first.
func spread(all []probed, n int) (chosen, rest []probed) {
	if len(all) <= n {
		return all, nil
	}
	taken := make([]bool, len(all))
	for left := n; left > 0; {
		seen := map[string]bool{}
		for _, i := range byAllocation(all) {
			top := fmt.Sprint(all[i].pkg, " ", topLevel(all[i].name))
			if left > 0 && !taken[i] && !seen[top] {
				taken[i], seen[top] = true, true
				left--
			}
		}
	}
	for i, p := range all {
		if taken[i] {
			chosen = append(chosen, p)
		} else {
			rest = append(rest, p)
		}
	}
	return chosen, rest
}

// byAllocation returns the indices of all, highest allocation rate first.
func byAllocation(all []probed) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	rate := func(i int) float64 { return all[i].bytesPerOp / math.Max(all[i].nsPerOp, 1) }
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rate(j), rate(i)) })
	return order
}

func topLevel(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

// benchPattern returns the -test.bench expression that selects exactly one benchmark,
// level by level.
func benchPattern(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
