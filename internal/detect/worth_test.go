package detect

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestWorth: a share is reported if its printed interval does not reach zero.
func TestWorth(t *testing.T) {
	f := func(value, low, high, samples float64, want bool) {
		t.Helper()
		if got := worth(stats.Interval{Value: value, Low: low, High: high}, samples); got != want {
			t.Errorf("worth(%v, %v, %v) of %v samples = %v", value, low, high, samples, got)
		}
	}
	f(0.10, 0.08, 0.125, 1000, true)
	f(0.014, 0.006, 0.032, 352, false) // 1.4 % ±1.8
	f(0.05, 0.02, 0.09, 80, false)     // four samples
	f(0.001, 0.0009, 0.0011, 1e6, false)
}
