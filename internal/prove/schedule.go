package prove

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// runOrder is what the schedule says of the next run.
type runOrder struct {
	side, pair int
	collector  bool
}

// round is the next runs of a subject: the sides in an order drawn by lot, and
// back – A B B A or B A A B of two, C A B B A C of three – so that noise which
// drifts or comes in bursts meets all sides alike and every pair has an even
// chance of either order. Each third round, from the first, is followed by runs
// that log collections: the log itself takes time.
func (s *subject) round(rng *rand.Rand) []runOrder {
	order := s.alive()
	rng.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	back := slices.Clone(order)
	slices.Reverse(back)
	passes := [][]int{order, back}
	if s.logs() {
		passes = append(passes, order)
	}
	var runs []runOrder
	for i, pass := range passes {
		for _, side := range pass {
			runs = append(runs, runOrder{side, s.pairs, i == 2})
		}
		s.pairs++
	}
	s.rounds++
	return runs
}

// logs tells whether the next round has runs for the log of collections.
func (s *subject) logs() bool { return s.rounds%3 == 0 && !s.logsAlways }

// cost is how long the next round will take.
func (s *subject) cost() time.Duration {
	var all time.Duration
	for _, side := range s.alive() {
		all += s.expected[side]
	}
	if s.logs() {
		return 3 * all
	}
	return 2 * all
}

// needed is how many pairs a subject needs when so many calls are made.
func (e *engine) needed(tests int) int { return stats.PairsFor(tests, e.result.Rules.Alpha) }
