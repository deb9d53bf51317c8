package prove

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// runsOf makes pairs of runs from the values of one unit.
func runsOf(u string, a, b []float64) []Sample {
	var runs []Sample
	for i := range a {
		runs = append(runs, Sample{Side: 0, Pair: i, Values: map[string]float64{u: a[i]}}, Sample{Side: 1, Pair: i, Values: map[string]float64{u: b[i]}})
	}
	return runs
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

// around are n values that spread by a share around v, drawn by a fixed seed.
func around(v, share float64, n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = v * (1 + share*rng.NormFloat64())
	}
	return out
}

// judged compares one unit on its own.
func judged(u string, a, b []float64) Comparison {
	c := Comparison{Name: "BenchmarkX", Iterations: 1, Runs: runsOf(u, a, b)}
	compare(&c, KindPackages, nil)
	cs := []Comparison{c}
	judge(cs, Rules{})
	return cs[0]
}

func TestCounted(t *testing.T) {
	f := func(a, b []float64, want Outcome, wantExact bool) {
		t.Helper()
		c := judged(unitAllocs, a, b)
		if ch := c.Changes[0]; ch.Outcome != want || ch.Exact != wantExact || c.Outcome != want {
			t.Errorf("%v against %v: %s, exact %v, in all %s, want %s, exact %v", a, b, ch.Outcome, ch.Exact, c.Outcome, want, wantExact)
		}
	}
	f(repeat(3, 4), repeat(3, 4), Same, true)
	f(repeat(3, 4), repeat(2, 4), Better, true)
	f(repeat(3, 4), repeat(4, 4), Worse, true)
	f(repeat(1000, 4), repeat(1001, 4), Worse, true) // a count is a count
	f(repeat(0, 4), repeat(1, 4), Worse, true)
	f(repeat(1, 4), repeat(0, 4), Better, true)
	f(repeat(0, 4), repeat(0, 4), Same, true)
	f(repeat(3, 3), repeat(2, 3), Unclear, false) // too few runs to be sure
	f([]float64{3, 3, 3, 3, 3, 4}, repeat(3, 6), Unclear, false)
	f(around(1000, 0.02, 12, 1), around(500, 0.02, 12, 2), Better, false)
	f([]float64{540900, 541000, 540950, 540910}, []float64{56, 119, 60, 57}, Better, false)
	f([]float64{3, 2, 2, 2}, repeat(0, 4), Better, false) // rounded, and apart by more than that
	f([]float64{3, 2, 2, 2}, repeat(1, 4), Unclear, false)
	f([]float64{100, 110, 100, 105}, []float64{150, 151, 152, 150}, Unclear, false) // not apart by far
	f([]float64{100000, 100001, 100000, 100000}, []float64{100100, 100100, 100100, 100100}, Same, false)
	f(repeat(0, 12), around(500, 0.02, 12, 2), Worse, false)
	f(around(100000, 0.0001, 12, 1), around(100010, 0.0001, 12, 2), Same, false)
}

func TestTimed(t *testing.T) {
	f := func(a, b []float64, want Outcome) {
		t.Helper()
		if ch := judged(unitTime, a, b).Changes[0]; ch.Outcome != want || ch.Exact {
			t.Errorf("%v against %v: %+v, want %s", a, b, ch, want)
		}
	}
	f(around(100, 0.01, 12, 1), around(80, 0.01, 12, 2), Better)
	f(around(100, 0.01, 12, 1), around(130, 0.01, 12, 2), Worse)
	f(around(100, 0.005, 20, 1), around(100, 0.005, 20, 2), Same)
	f(around(100, 0.3, 8, 1), around(100, 0.3, 8, 2), Unclear)
	f(repeat(100, 4), repeat(50, 4), Unclear)  // time is never exact, and four pairs prove nothing
	f(repeat(100, 12), repeat(100, 12), Same)  // a clock that does not move is no difference
	f(repeat(100, 12), repeat(50, 12), Better) // … and none that a test could miss
}

// TestSmallEffect: a difference that is sure but below what counts is none.
func TestSmallEffect(t *testing.T) {
	c := judged(unitTime, around(1000, 0.0005, 30, 1), around(1003, 0.0005, 30, 2))
	if ch := c.Changes[0]; ch.Outcome != Same || ch.Tests.AdjustedP > 0.05 {
		t.Errorf("+0.3 %% of time: %s at p = %v, want same although p is small", ch.Outcome, ch.Tests.AdjustedP)
	}
}

// TestFamily: what is a difference alone is none among many others.
func TestFamily(t *testing.T) {
	var cs []Comparison
	for i := range 40 {
		c := Comparison{Runs: runsOf(unitTime, around(100, 0.01, 9, uint64(2*i)), around(100, 0.01, 9, uint64(2*i+1)))}
		if i == 0 {
			c.Runs = runsOf(unitTime, around(100, 0.01, 9, 1), around(80, 0.01, 9, 2))
		}
		compare(&c, KindPackages, nil)
		cs = append(cs, c)
	}
	judge(cs[:1], Rules{})
	if cs[0].Outcome != Better {
		t.Errorf("alone: %s, want better", cs[0].Outcome)
	}
	judge(cs, Rules{})
	if cs[0].Outcome != Unclear {
		t.Errorf("among 40 with nine pairs: %s, want unclear", cs[0].Outcome)
	}
	if n := testsIn(cs); n != 40 {
		t.Errorf("%d tests, want 40", n)
	}
}

// TestFalseCalls compares programs with themselves, two at a time and four at a
// time: time that drifts and comes in bursts, counts that vary. At most 5 % of
// comparisons may call anything.
func TestFalseCalls(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const commands, benchmarks = 300, 10
	f := func(sides, rounds int) {
		t.Helper()
		called := 0
		for range commands {
			var cs []Comparison
			for i := range benchmarks {
				s := newSubject("X", "", sides)
				s.logsAlways = true
				noisyRuns(s, rounds, i, rng)
				s.compare(KindPackages, nil)
				cs = append(cs, s.against...)
			}
			judge(cs, Rules{})
			if v, _ := verdicts(cs, sides); v.Outcome != Same && v.Outcome != Unclear {
				called++
			}
		}
		// Three standard deviations above 5 %.
		if limit := 0.05*commands + 3*math.Sqrt(commands*0.05*0.95); float64(called) > limit {
			t.Errorf("%d of %d comparisons of a program with itself on %d sides call a difference, want at most %.0f", called, commands, sides, limit)
		}
	}
	f(2, 7)
	f(4, 8)
}

// noisyRuns are those of one program on all sides of a subject.
func noisyRuns(s *subject, rounds, i int, rng *rand.Rand) {
	level, extra := 0.0, 1.0
	for range rounds {
		for _, o := range s.round(rng) {
			level = 0.8*level + 0.05*rng.NormFloat64()
			if rng.IntN(10) == 0 {
				extra = 1 + rng.Float64()
			} else if rng.IntN(3) == 0 {
				extra = 1
			}
			s.runs = append(s.runs, Sample{Side: o.side, Pair: o.pair, Values: map[string]float64{
				unitTime: 100 * math.Exp(level) * extra, unitAllocs: 7, unitBytes: float64(512 + rng.IntN(i+1)),
			}})
		}
	}
}

func TestPairing(t *testing.T) {
	// A run without its partner counts for the side, not for the pairs.
	runs := append(runsOf(unitTime, repeat(1, 6), repeat(2, 6)), Sample{Side: 0, Pair: 99, Values: map[string]float64{unitTime: 5}})
	ch := change(Metric{Unit: unitTime, Sense: -1, Judged: true}, runs)
	if ch.Runs.A != 7 || ch.Runs.B != 6 || ch.Delta.Value != 1 {
		t.Errorf("%d and %d runs, change %v, want 7, 6 and +100 %%", ch.Runs.A, ch.Runs.B, ch.Delta)
	}
	if ch := change(Metric{Unit: "none"}, runs); ch.Runs.A != 0 || !math.IsNaN(ch.A.Value) || !math.IsNaN(ch.Tests.P) {
		t.Errorf("a metric that no run has: %+v", ch)
	}
}

func TestSumUp(t *testing.T) {
	f := func(c Comparison, want Outcome, outcomes ...Outcome) {
		t.Helper()
		for _, o := range outcomes {
			c.Changes = append(c.Changes, Change{Metric: Metric{Judged: true}, Outcome: o})
		}
		c.sumUp()
		if c.Outcome != want {
			t.Errorf("%v: %s, want %s", outcomes, c.Outcome, want)
		}
	}
	f(Comparison{}, Same, Same, Same)
	f(Comparison{}, Better, Same, Better, Unclear)
	f(Comparison{}, Worse, Worse, Unclear)
	f(Comparison{}, Mixed, Worse, Better)
	f(Comparison{}, Unclear, Same, Unclear)
	f(Comparison{}, Incomparable)
	f(Comparison{Differs: []string{"x"}}, Incomparable, Better)
	f(Comparison{Failed: [2]string{"", "panic"}}, Worse)
	f(Comparison{Failed: [2]string{"panic", ""}}, Incomparable, Better)
}

func TestDelta(t *testing.T) {
	ch := change(Metric{Unit: unitTime}, runsOf(unitTime, repeat(0, 6), repeat(2, 6)))
	if !math.IsNaN(ch.Delta.Value) {
		t.Errorf("a change from nothing: %v, want NaN", ch.Delta)
	}
	ch = change(Metric{Unit: unitTime}, runsOf(unitTime, repeat(0, 6), repeat(0, 6)))
	if ch.Delta != (stats.Interval{}) || ch.Tests.P != 1 {
		t.Errorf("nothing against nothing: %v, p = %v", ch.Delta, ch.Tests.P)
	}
}
