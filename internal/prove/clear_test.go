package prove

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestNoteClear: the number of pairs is that of the first round since which all calls are clear.
func TestNoteClear(t *testing.T) {
	round := func(pairs int, delta, half float64) []Comparison {
		ch := Change{Metric: Metric{Judged: true}, A: stats.Interval{Value: 100}, B: stats.Interval{Value: 100 * (1 + delta)},
			Delta: stats.Interval{Value: delta, Low: delta - half, High: delta + half}}
		ch.Runs.A, ch.Runs.B = pairs, pairs
		ch.Tests.P = 1
		return []Comparison{{Pairs: pairs, Changes: []Change{ch}}}
	}
	e := &engine{result: &Result{Rules: Rules{}.withDefaults()}}
	f := func(want, pairs int, half float64) {
		t.Helper()
		if e.noteClear(round(pairs, 0, half)); e.result.ClearAfter != want {
			t.Errorf("after %d pairs ±%g: clear after %d, want %d", pairs, half, e.result.ClearAfter, want)
		}
	}
	f(0, 10, 0.5)
	f(20, 20, 0.001)
	f(20, 30, 0.001)
	f(0, 40, 0.5)
	f(50, 50, 0.001)

	// A count that differs makes the call of a benchmark, and leaves that of its time open.
	both := round(60, 0, 0.5)
	count := both[0].Changes[0]
	count.Metric, count.Exact = Metric{Unit: unitAllocs, Sense: -1, Count: true, Judged: true}, true
	count.A, count.B = stats.Interval{Value: 1188, Low: 1188, High: 1188}, stats.Interval{Value: 1187, Low: 1187, High: 1187}
	count.Delta = stats.Interval{Value: -0.001, Low: -0.001, High: -0.001}
	both[0].Changes = append(both[0].Changes, count)
	if e.noteClear(both); e.result.ClearAfter != 0 {
		t.Errorf("time is unclear: clear after %d pairs, want 0; outcomes %v, %v", e.result.ClearAfter, both[0].Outcome, both[0].Changes[0].Outcome)
	}
}
