package stats_test

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol*math.Max(1, math.Abs(b)) }

// The exact bounds are the gamma quantiles of Garwood's interval.
func TestPoisson(t *testing.T) {
	f := func(n, low, high float64) {
		t.Helper()
		got := stats.Poisson(n)
		if got.Value != n || !near(got.Low, low, 0.02) || !near(got.High, high, 0.02) {
			t.Errorf("Poisson(%v) = %+v, want %v to %v", n, got, low, high)
		}
	}
	f(0, 0, 3.689)
	f(2, 0.242, 7.225)
	f(10, 4.795, 18.39)
	f(100, 81.36, 121.6)
}

// Bounds from the published tables of the Wilson interval.
func TestShare(t *testing.T) {
	f := func(k, n, low, high float64) {
		t.Helper()
		got := stats.Share(k, n)
		if !near(got.Low, low, 0.001) || !near(got.High, high, 0.001) {
			t.Errorf("Share(%v, %v) = %+v, want %v to %v", k, n, got, low, high)
		}
	}
	f(0, 0, 0, 1)
	f(0, 10, 0, 0.2775)
	f(5, 10, 0.2366, 0.7634)
	f(10, 10, 0.7225, 1)
	f(50, 1000, 0.0382, 0.0653)
	if got := stats.Share(3, 2); got.Value != 1 || got.High != 1 {
		t.Errorf("Share(3, 2) = %+v, want at most 1", got)
	}
}

func TestInterval(t *testing.T) {
	a, b := stats.Interval{Value: 10, Low: 7, High: 14}, stats.Interval{Value: 1, Low: -3, High: 4}
	if got, want := a.Add(b), (stats.Interval{Value: 11, Low: 6, High: 16}); got != want {
		t.Errorf("%+v + %+v = %+v, want %+v", a, b, got, want)
	}
	if got, want := a.Scale(-2), (stats.Interval{Value: -20, Low: -28, High: -14}); got != want {
		t.Errorf("-2 × %+v = %+v, want %+v", a, got, want)
	}
	if a.Overlaps(b) || !a.Overlaps(stats.Exact(7)) {
		t.Errorf("Overlaps: %+v and %+v, and 7", a, b)
	}
}
