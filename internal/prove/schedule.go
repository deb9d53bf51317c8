package prove

import (
	"math/rand/v2"
	"time"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// runOrder is what the schedule says of the next run.
type runOrder struct {
	side, pair int
	collector  bool
}

// subject is one benchmark, or the command, while it is measured.
type subject struct {
	Comparison
	pkg      int
	ns       [2]float64       // per operation, as probed
	expected [2]time.Duration // of a run
	pairs    int              // begun
	rounds   int
	ended    bool // no more runs
	// logsAlways says that every run logs collections, so none is made for that.
	logsAlways bool
}

// round is the next runs of a subject: A B B A or B A A B by lot, so that noise
// which drifts or comes in bursts meets both sides alike and every pair has an
// even chance of either order. Each third round, from the first, is followed by
// a pair that logs collections: the log itself takes time.
func (s *subject) round(rng *rand.Rand) []runOrder {
	first := rng.IntN(2)
	n := s.pairs
	runs := []runOrder{{first, n, false}, {1 - first, n, false}, {1 - first, n + 1, false}, {first, n + 1, false}}
	s.pairs += 2
	if s.logs() {
		runs = append(runs, runOrder{first, s.pairs, true}, runOrder{1 - first, s.pairs, true})
		s.pairs++
	}
	s.rounds++
	return runs
}

// logs tells whether the next round has runs for the log of collections.
func (s *subject) logs() bool { return s.rounds%3 == 0 && !s.logsAlways }

// cost is how long the next round will take.
func (s *subject) cost() time.Duration {
	both := s.expected[0] + s.expected[1]
	if s.logs() {
		return 3 * both
	}
	return 2 * both
}

// learn takes the time of a run into what the next one is expected to take.
func (s *subject) learn(r Sample) {
	at := &s.expected[r.Side]
	if *at == 0 {
		*at = r.Wall
	}
	*at = (*at + r.Wall) / 2
}

// stop is the rule by which measuring a subject ends: it has the pairs that a
// call needs, and the interval of each timed change that is judged is narrow
// enough; or it has as many pairs as are allowed, which may be fewer. It looks at widths only, never
// at which side is ahead.
func (s *subject) stop(needed int, r Rules) bool {
	pairs := s.Pairs
	switch {
	case s.ended:
		return true
	case pairs >= r.MaxPairs:
		return true
	case pairs < needed:
		return false
	}
	for _, c := range s.Changes {
		if c.Judged && !c.Count && c.halfWidth() > r.Precision {
			return false
		}
	}
	return true
}

// needed is how many pairs a subject needs when so many calls are made.
func (e *engine) needed(tests int) int { return stats.PairsFor(tests, e.result.Rules.Alpha) }
