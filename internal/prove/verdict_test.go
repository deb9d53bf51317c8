package prove

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

func TestVerdict(t *testing.T) {
	allocs := func(a, b float64, o Outcome) Change {
		return Change{Metric: Metric{Unit: unitAllocs, Count: true, Judged: true}, A: stats.Exact(a), B: stats.Exact(b),
			Delta: stats.Exact(b/a - 1), Exact: true, Outcome: o}
	}
	time := func(delta float64, o Outcome) Change {
		return Change{Metric: Metric{Unit: unitTime, Label: "time", Judged: true},
			Delta: stats.Interval{Value: delta, Low: delta - 0.01, High: delta + 0.01}, Outcome: o}
	}
	bench := func(name string, changes ...Change) Comparison {
		c := Comparison{Name: name, Changes: changes}
		c.sumUp()
		return c
	}
	f := func(want Outcome, sentence string, cs ...Comparison) {
		t.Helper()
		v := verdict(cs, "B")
		if v.Outcome != want || v.Sentence != sentence {
			t.Errorf("got %s: %s\nwant %s: %s", v.Outcome, v.Sentence, want, sentence)
		}
	}
	fewer, more := bench("X", allocs(4, 2, Better), time(-0.2, Better)), bench("Y", allocs(4, 5, Worse))
	same, unclear := bench("S", allocs(4, 4, Same), time(0, Same)), bench("U", allocs(4, 4, Same), time(0.02, Unclear))
	fails := Comparison{Name: "F", Failed: [2]string{"", "panic"}}
	fails.sumUp()
	other := Comparison{Name: "O", Differs: []string{"items"}, Changes: []Change{time(0.5, Worse)}}
	other.sumUp()

	f(Better, "B is better: 4 → 2 allocs/op, -20.0 % ns/op.", fewer)
	f(Better, "B is better: 1 of 2 benchmarks (X 4 → 2 allocs/op); none is worse.", fewer, same)
	f(Worse, "B is worse: 4 → 5 allocs/op.", more)
	f(Worse, "B is worse: 1 of 2 benchmarks (F fails).", same, fails)
	f(Worse, "B is worse: 2 of 2 benchmarks (most: F fails).", more, fails)
	f(Mixed, "B is worse in 1 of 2 benchmarks (Y 4 → 5 allocs/op), and better in 1 of 2 benchmarks (X 4 → 2 allocs/op).", fewer, more)
	f(Same, "No difference: time differs by less than 1.0 %.", same)
	f(Same, "No difference in 2 benchmarks: time differs by less than 1.0 %.", same, same)
	f(Unclear, "Allocations are the same; the runs cannot tell more: time differs by less than 3.0 %.", unclear)
	f(Unclear, "Allocations are the same, but the runs cannot tell for 1 of 2 benchmarks: time differs by less than 3.0 %.", unclear, same)
	f(Same, "No difference in 1 benchmark: time differs by less than 1.0 %. 1 benchmark cannot be compared.", same, other)
	f(Incomparable, "Nothing could be compared.", other)
	f(Incomparable, "Nothing could be compared.")

	if c := bench("N", allocs(0, 3, Worse)); !math.IsInf(c.Changes[0].Delta.Value, 1) || verdict([]Comparison{c}, "B").Sentence != "B is worse: 0 → 3 allocs/op." {
		t.Errorf("from nothing: %+v", verdict([]Comparison{c}, "B"))
	}
}

func TestVerdicts(t *testing.T) {
	on := func(side int, o Outcome) Comparison {
		return Comparison{Name: "X", Side: side, Outcome: o, Changes: []Change{{Metric: Metric{Unit: unitTime, Label: "time", Judged: true}, Delta: stats.Exact(0.5), Outcome: o}}}
	}
	f := func(want Outcome, sentence string, cs ...Comparison) {
		t.Helper()
		got, each := verdicts(cs, 3)
		if got.Outcome != want || got.Sentence != sentence || len(each) != 2 {
			t.Errorf("got %s: %s (%d sides)\nwant %s: %s", got.Outcome, got.Sentence, len(each), want, sentence)
		}
	}
	f(Worse, "B: No difference: time differs by less than 50.0 %. C is worse: +50.0 % ns/op.", on(1, Same), on(2, Worse))
	f(Mixed, "B is better: +50.0 % ns/op. C is worse: +50.0 % ns/op.", on(1, Better), on(2, Worse))
	f(Better, "B is better: +50.0 % ns/op. C: No difference could be called; the runs cannot tell more: time differs by less than 50.0 %.", on(1, Better), on(2, Unclear))
	f(Incomparable, "B: Nothing could be compared. C: Nothing could be compared.", on(1, Incomparable), on(2, Incomparable))
}

func TestPausesOf(t *testing.T) {
	runs := []Sample{{pauses: []uint32{1, 2, 3}}, {Side: 1, pauses: []uint32{100}}, {pauses: []uint32{4, 5}}, {}}
	if got, want := pausesOf(runs, 0), (Pauses{5, 3, 5, 5}); got != want {
		t.Errorf("A: %+v, want %+v", got, want)
	}
	if got, want := pausesOf(runs, 1), (Pauses{1, 100, 100, 100}); got != want {
		t.Errorf("B: %+v, want %+v", got, want)
	}
	if got := pausesOf(nil, 0); got != (Pauses{}) {
		t.Errorf("nothing: %+v", got)
	}
	many := make([]uint32, 1<<16)
	for i := range many {
		many[i] = uint32(i)
	}
	thinned := thin(many)
	if got := pausesOf([]Sample{{pauses: thinned}}, 0); len(thinned) != 1<<14 || got.Max != 1<<16-1 || got.P99 < 64800 || got.P99 > 64900 || got.P50 < 32700 || got.P50 > 32800 {
		t.Errorf("thinned to %d: %+v", len(thinned), got)
	}
}
