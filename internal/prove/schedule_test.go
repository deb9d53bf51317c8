package prove

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestRound checks that rounds are A B B A or B A A B, that pairs are of both
// sides and follow each other, and that both orders come up.
func TestRound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := newSubject("X", "", 2)
	firsts, pair, logs := [2]int{}, 0, 0
	for n := range 60 {
		order := s.round(rng)
		want := 4
		if n%3 == 0 {
			want = 6
		}
		if len(order) != want {
			t.Fatalf("round %d has %d runs, want %d", n, len(order), want)
		}
		if order[0].side != order[3].side || order[1].side != order[2].side || order[0].side == order[1].side {
			t.Errorf("round %d: %+v is neither A B B A nor B A A B", n, order)
		}
		firsts[order[0].side]++
		for i := 0; i < len(order); i += 2 {
			x, y := order[i], order[i+1]
			if x.side == y.side || x.pair != pair || y.pair != pair || x.collector != (i == 4) || y.collector != (i == 4) {
				t.Errorf("round %d: %+v and %+v, want pair %d", n, x, y, pair)
			}
			pair++
			if x.collector {
				logs++
			}
		}
	}
	if firsts[0] < 15 || firsts[1] < 15 {
		t.Errorf("A comes first in %d rounds, B in %d: want both by an even chance", firsts[0], firsts[1])
	}
	if logs != 20 {
		t.Errorf("%d pairs log collections, want 20 in 60 rounds", logs)
	}
	s = newSubject("X", "", 2)
	s.logsAlways = true
	if order := s.round(rng); len(order) != 4 {
		t.Errorf("a subject that always logs: %d runs, want 4", len(order))
	}
}

// TestRoundOfFour checks that a round of four sides runs each twice, once in
// each direction, that every side comes before every other about as often as
// after it, and that a side that failed is left out.
func TestRoundOfFour(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := newSubject("X", "", 4)
	s.logsAlways = true
	var before [4][4]int
	for range 200 {
		order := s.round(rng)
		if len(order) != 8 {
			t.Fatalf("%d runs, want 8", len(order))
		}
		for i, o := range order[:4] {
			back := order[7-i]
			if back.side != o.side || o.pair%2 != 0 || back.pair != o.pair+1 {
				t.Fatalf("%+v is not the way there and back", order)
			}
			for _, later := range order[i+1 : 4] {
				before[o.side][later.side]++
			}
		}
	}
	for a := range before {
		for b := range before {
			if a != b && (before[a][b] < 70 || before[a][b] > 130) {
				t.Errorf("side %d comes before %d in %d of 200 rounds", a, b, before[a][b])
			}
		}
	}
	s.failed[2] = "panic"
	for _, o := range s.round(rng) {
		if o.side == 2 {
			t.Error("a side that failed runs again")
		}
	}
	if s.over() {
		t.Error("three sides are left, and it is over")
	}
	s.failed[0] = "panic"
	if !s.over() {
		t.Error("there is nothing to compare with, and it goes on")
	}
}

func TestStop(t *testing.T) {
	width := func(half float64) []Change {
		return []Change{
			{Metric: Metric{Judged: true}, Delta: stats.Interval{Low: -half, High: half}},
			{Metric: Metric{Judged: true, Count: true}, Delta: stats.Interval{Low: -9, High: 9}},
			{Metric: Metric{}, Delta: stats.Interval{Low: -9, High: 9}},
		}
	}
	f := func(pairs int, changes []Change, want bool) {
		t.Helper()
		s := newSubject("X", "", 2)
		s.against[0] = Comparison{Pairs: pairs, Changes: changes}
		if got := s.stop(9, Rules{}.withDefaults()); got != want {
			t.Errorf("stop after %d pairs with %v = %v, want %v", pairs, changes, got, want)
		}
	}
	f(0, nil, false)
	f(8, width(0.001), false) // narrow, but no call could be made
	f(9, width(0.001), true)
	f(9, width(0.02), false)
	f(50, width(math.NaN()), false)
	f(50, width(math.Inf(1)), false)
	f(100, width(0.02), true) // enough is enough
	few := Rules{MaxPairs: 4}.withDefaults()
	s := newSubject("X", "", 2)
	s.against[0].Pairs = 4
	if !s.stop(9, few) {
		t.Errorf("four pairs are all that is allowed, and it goes on")
	}
	s = newSubject("X", "", 2)
	s.failed[1] = "panic"
	if !s.stop(9, Rules{}.withDefaults()) {
		t.Errorf("a subject that has failed goes on")
	}
}

// TestStopIsBlind: the rule must not look at which side is ahead, or it would
// stop when chance makes a difference.
func TestStopIsBlind(t *testing.T) {
	a, b := around(100, 0.02, 12, 1), around(100, 0.02, 12, 2)
	f := func(a, b []float64) bool {
		s := newSubject("X", "", 2)
		s.runs = runsOf(unitTime, a, b)
		s.compare(KindPackages, nil)
		return s.stop(9, Rules{Precision: 0.02}.withDefaults())
	}
	if f(a, b) != f(b, a) {
		t.Errorf("the stop rule depends on which side is which")
	}
}

func TestPlan(t *testing.T) {
	f := func(ns [2]float64, length time.Duration, want int64) {
		t.Helper()
		e := &engine{o: Options{BenchTime: gocmd.BenchTime{Time: length}}, result: &Result{Rules: Rules{}.withDefaults()}}
		w := &benchmarks{engine: e, pkgs: []benchPackage{{}}}
		s := newSubject("X", "", 2)
		copy(s.ns, ns[:])
		w.plan([]*subject{s})
		if s.iterations != want {
			t.Errorf("%v ns per operation in runs of %v: %d iterations, want %d", ns, length, s.iterations, want)
		}
	}
	f([2]float64{100, 100}, time.Millisecond, 10_000)
	f([2]float64{100, 200}, time.Millisecond, 10_000)
	f([2]float64{200, 100}, time.Millisecond, 10_000)
	f([2]float64{10, 1000}, time.Millisecond, 8_000) // the slow side bounds it
	f([2]float64{1e9, 1e9}, time.Millisecond, 1)
	f([2]float64{0, 0}, time.Millisecond, 10_000_000)
}

func TestRunTime(t *testing.T) {
	f := func(subjects int, budget, want time.Duration) {
		t.Helper()
		e := &engine{o: Options{Budget: budget}, result: &Result{Rules: Rules{}.withDefaults()}}
		w := &benchmarks{engine: e, pkgs: []benchPackage{{start: 5 * time.Millisecond}}}
		all := make([]*subject, subjects)
		for i := range all {
			all[i] = &subject{}
		}
		if got := w.runTime(all); got != want {
			t.Errorf("%d benchmarks in %v: runs of %v, want %v", subjects, budget, got, want)
		}
	}
	f(1, 5*time.Minute, 300*time.Millisecond)
	f(1000, 10*time.Second, 20*time.Millisecond)
}
