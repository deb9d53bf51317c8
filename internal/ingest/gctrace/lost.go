package gctrace

import (
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// WithLost puts the cycles back whose lines could not be read because other output lies in them: the runtime writes a
// line in several pieces. Cycles are numbered, so their count is known; each is taken to be like the one before it, in
// even steps of time. Gaps that unreadable lines do not explain, as in a log that was cut, stay. It returns the cycles
// and how many of them are such.
func WithLost(cycles []evidence.Cycle, malformed int) (all []evidence.Cycle, lost int) {
	for i := 1; i < len(cycles); i++ {
		lost += max(0, cycles[i].N-cycles[i-1].N-1)
		if lost > 2*malformed { // two cycles may have lost a line to one another
			return cycles, 0
		}
	}
	if lost == 0 {
		return cycles, 0
	}
	for i, c := range cycles {
		if i > 0 {
			before := cycles[i-1]
			step := (c.At - before.At) / time.Duration(max(1, c.N-before.N))
			for n := before.N + 1; n < c.N; n++ {
				like := before
				like.N, like.At, like.Forced, like.Periodic = n, before.At+step*time.Duration(n-before.N), false, false
				all = append(all, like)
			}
		}
		all = append(all, c)
	}
	return all, lost
}
