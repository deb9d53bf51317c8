package gctrace

import (
	"math"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

func TestWithLost(t *testing.T) {
	cycle := func(n int, at time.Duration) evidence.Cycle {
		return evidence.Cycle{N: n, At: at, HeapEnd: 8 << 20, Forced: n == 1}
	}
	f := func(malformed, wantLost int, wantAt []time.Duration, cycles ...evidence.Cycle) {
		t.Helper()
		all, lost := WithLost(cycles, malformed)
		if lost != wantLost || len(all) != len(wantAt) {
			t.Errorf("%d cycles with %d lost, want %d with %d", len(all), lost, len(wantAt), wantLost)
			return
		}
		for i, c := range all {
			if c.At != wantAt[i] || c.N != all[0].N+i && lost > 0 || c.HeapEnd != 8<<20 || c.Forced && c.N != 1 {
				t.Errorf("cycle %d is %+v, want one at %v", i, c, wantAt[i])
			}
		}
	}
	f(2, 2, []time.Duration{10, 20, 30, 40}, cycle(1, 10), cycle(4, 40))
	f(1, 0, []time.Duration{10, 20}, cycle(1, 10), cycle(2, 20))
	f(0, 0, []time.Duration{10, 40}, cycle(1, 10), cycle(4, 40)) // the log was cut
	f(3, 0, []time.Duration{10, 40}, cycle(1, 10), cycle(90, 40))
	f(3, 0, []time.Duration{10, 5}, cycle(7, 10), cycle(1, 5))                                                           // another process
	f(3, 0, []time.Duration{10, 20, 30, 40}, cycle(1, 10), cycle(math.MaxInt, 20), cycle(1, 30), cycle(math.MaxInt, 40)) // hostile
	f(3, 0, nil)
}
