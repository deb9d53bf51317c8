//go:build unix

package main

import "testing"

func TestRank(t *testing.T) {
	// The table of the sign test: for n values, how many may be left out at each end so that what is
	// left holds the median in 95 % of cases.
	for n, want := range map[int]int{1: 0, 2: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 1, 12: 2, 15: 3, 20: 5, 25: 7} {
		if got := rank(n); got != want {
			t.Errorf("rank(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	var all []figures
	for round := range 3 {
		// The machine gets slower from round to round; the ratio does not change.
		slow := float64(1 + round)
		all = append(all, figures{Setting: "a", Round: round, P99: 10 * slow}, figures{Setting: "b", Round: round, P99: 20 * slow})
	}
	all = append(all, figures{Setting: "b", Round: 7, P99: 1}) // has no partner
	p99 := func(f figures) float64 { return f.P99 }
	if got, ok := compare(all, "b", "a", p99); !ok || got != (ratio{2, 2, 2}) {
		t.Errorf("compare = %v, %v, want 2", got, ok)
	}
	if _, ok := compare(all, "c", "a", p99); ok {
		t.Error("compare of a setting that was not measured: ok")
	}
}
