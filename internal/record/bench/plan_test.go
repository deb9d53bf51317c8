package bench

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// However many benchmarks there are, the plan must fit the budget by the stated costs
// of a pass and of a recorded allocation. Benchmarks that do not fit are left out.
func TestPlanFitsTheBudget(t *testing.T) {
	for _, budget := range []time.Duration{2 * time.Second, 3 * time.Second, 6 * time.Second, 20 * time.Second, time.Minute, 5 * time.Minute} {
		for n := 1; n <= 400; n += 7 {
			var all []probed
			for i := range n {
				all = append(all, probed{name: fmt.Sprintf("Benchmark%d", i), nsPerOp: 1000, bytesPerOp: 64,
					allocsPerOp: 5})
			}
			chosen, leftOut := plan(all, budget, gocmd.BenchTime{})
			if len(chosen)+len(leftOut) != n || len(chosen) == 0 {
				t.Fatalf("%v, %d benchmarks: %d chosen and %d left out", budget, n, len(chosen), len(leftOut))
			}
			var takes time.Duration
			for _, p := range chosen {
				if p.length < briefBenchTime || p.length < quickBenchTime && budget > 4*time.Second || p.length > longBenchTime {
					t.Fatalf("%v, %d benchmarks: a timing pass of %v", budget, n, p.length)
				}
				recording := time.Duration(float64(p.allocOps) * p.allocsPerOp * 1700) // ns per allocation
				takes += 2*p.length + recording + perBenchmark
				if !p.quick() {
					takes += 3 * p.length / 4
				}
			}
			few := int(budget / (2200 * time.Millisecond))
			if budget < 10*time.Second {
				few = int(budget / time.Second)
			}
			if budget < 4*time.Second {
				few = int(budget / (500 * time.Millisecond))
			}
			if len(chosen) < min(n, few) {
				t.Errorf("%v, %d benchmarks: only %d are chosen", budget, n, len(chosen))
			}
			if takes > budget*21/20 {
				t.Errorf("%v, %d benchmarks: the %d chosen take %v", budget, n, len(chosen), takes)
			}
			if len(leftOut) > 0 && takes < budget*3/4 {
				t.Errorf("%v, %d benchmarks: %d are left out, and the others take %v only", budget, n, len(leftOut),
					takes)
			}
		}
	}
}

// A requested length must be kept, and the number of recorded allocations must not
// depend on it.
func TestPlanOfAGivenLength(t *testing.T) {
	all := []probed{{name: "BenchmarkA", nsPerOp: 1000, allocsPerOp: 10}}
	chosen, leftOut := plan(all, time.Second, gocmd.BenchTime{Time: 300 * time.Millisecond})
	if len(leftOut) != 0 || len(chosen) != 1 {
		t.Fatalf("got %d chosen and %d left out, want 1 and 0", len(chosen), len(leftOut))
	}
	if c := chosen[0]; c.ops != 300_000 || c.allocOps != recordedAllocs/10 {
		t.Errorf("got %d and %d operations, want 300000 and %d", c.ops, c.allocOps, recordedAllocs/10)
	}
	chosen, _ = plan(all, time.Second, gocmd.BenchTime{Ops: 700})
	if c := chosen[0]; c.ops != 700 || c.allocOps != 700 || c.length != 700*time.Microsecond {
		t.Errorf("got %d and %d operations for %v, want 700", c.ops, c.allocOps, c.length)
	}
}

// TestLeft: what is left goes by the plan, and by how much longer than planned the first ones took.
func TestLeft(t *testing.T) {
	all := make([]planned, 4)
	for i := range all {
		all[i].length = time.Second
	}
	one := all[0].takes()
	if got := left(all, nil, 0); got != 4*one {
		t.Errorf("at first %v, want %v", got, 4*one)
	}
	if got := left(all[2:], all[:2], 4*one); got != 4*one {
		t.Errorf("half-way, at half the speed: %v, want %v", got, 4*one)
	}
	if got := left(nil, all, one); got != 0 {
		t.Errorf("in the end %v", got)
	}
}

// TestMoreOps: a pass with too little CPU time is repeated with more operations, within the time that
// the budget leaves.
func TestMoreOps(t *testing.T) {
	f := func(want int64, nsPerOp, used float64, room time.Duration) {
		t.Helper()
		if got := moreOps(timed{1000, nsPerOp, used}, time.Second, room); got != want {
			t.Errorf("%v ns/op, %v ns of CPU, room for %v: %d operations, want %d", nsPerOp, used, room, got, want)
		}
	}
	const ms, never = 1e6, math.MaxInt64
	f(1000, ms, 700*ms, never)
	f(2000, ms, 500*ms, never)
	f(10_000, ms, 5*ms, never)
	f(2000, ms, 500*ms, 5*time.Second)
	f(1600, ms, 500*ms, 4*time.Second)
	f(1000, ms, 500*ms, 2*time.Second) // not worth a second pass
	f(1000, ms, 500*ms, -time.Second)
	f(1000, 10*ms, 5*ms, 20*time.Second)
}

// TestPartFor: a pass that took longer than planned leaves less work for those after it.
func TestPartFor(t *testing.T) {
	f := func(want float64, room, took time.Duration) {
		t.Helper()
		if got := partFor(room, took); got != want {
			t.Errorf("room for %v after %v: %v, want %v", room, took, got, want)
		}
	}
	f(1, 2*time.Second, time.Second)
	f(1, math.MaxInt64, time.Second)
	f(0.5, 3*time.Second, 4*time.Second)
	f(0.25, time.Second, 4*time.Second)
	f(0.25, -time.Minute, time.Second)
	f(1, 0, 0)
}

// TestShareUntil: each benchmark gets its part of the time that is left, whatever those before took.
func TestShareUntil(t *testing.T) {
	now := time.Now()
	rest := []planned{{length: time.Second}, {length: time.Second}, {length: time.Second}, {length: time.Second}}
	for n := len(rest); n > 0; n-- {
		want := time.Minute / time.Duration(n)
		if got := shareUntil(now, now.Add(time.Minute), rest[:n]).Sub(now); (got - want).Abs() > time.Microsecond {
			t.Errorf("the first of %d has until %v, want %v", n, got, want)
		}
	}
}

// TestPlanLean: a budget that is too short for all passes of all benchmarks is enough for what they allocate.
func TestPlanLean(t *testing.T) {
	var all []probed
	for i := range 20 {
		all = append(all, probed{name: fmt.Sprintf("Benchmark%d", i), nsPerOp: 1000, allocsPerOp: 100})
	}
	const budget = 8 * time.Second
	if _, left := plan(all, budget, gocmd.BenchTime{}); len(left) == 0 {
		t.Fatal("all passes of all benchmarks fit")
	}
	chosen, left := planLean(all, budget)
	if len(chosen) != len(all) || len(left) != 0 || needs(chosen) > budget {
		t.Errorf("%d benchmarks for %v, %d left out, want all of them within %v", len(chosen), needs(chosen), len(left), budget)
	}
	if p := chosen[0]; !p.lean() || p.ops != 50_000 || p.allocOps != 100 {
		t.Errorf("%d operations, %d of them for allocations, lean %v, want 50000, 100, true", p.ops, p.allocOps, p.lean())
	}
	if chosen, left := planLean(all, time.Second); len(chosen) != 5 || len(left) != 15 {
		t.Errorf("%d of a second, %d left out, want 5 and 15", len(chosen), len(left))
	}
}

// TestAllow: the pass for allocations has some time, also where that of the benchmark is over.
func TestAllow(t *testing.T) {
	const least = time.Minute
	now := time.Now()
	for _, c := range []struct{ end, want time.Time }{
		{}, // no budget
		{now.Add(-time.Second), now.Add(least)},
		{now.Add(least / 2), now.Add(least)},
		{now.Add(time.Hour), now.Add(time.Hour)},
	} {
		p := planned{end: c.end}
		p.allow(least)
		if p.end.IsZero() != c.want.IsZero() || p.end.Sub(c.want).Abs() > least/4 {
			t.Errorf("ends at %v, want %v", p.end.Sub(now), c.want.Sub(now))
		}
	}
}
