package prove

import (
	"slices"
	"time"
)

// subject is one benchmark, or the command, while it is measured on all sides.
type subject struct {
	name, path string // of the benchmark, and of its package
	iterations int64
	pkg        int             // in benchmarks.pkgs
	ns         []float64       // per operation, as probed, by side
	expected   []time.Duration // of a run, by side
	failed     []string        // by side; one that failed runs no more
	runs       []Sample        // of all sides
	against    []Comparison    // A with each other side
	pairs      int             // begun
	rounds     int
	// logsAlways says that every run logs collections, so none is made for that.
	logsAlways bool
}

func newSubject(name, path string, sides int) *subject {
	return &subject{
		name: name, path: path, ns: make([]float64, sides), expected: make([]time.Duration, sides),
		failed: make([]string, sides), against: make([]Comparison, sides-1),
	}
}

// alive are the sides that still run.
func (s *subject) alive() []int {
	var out []int
	for i, f := range s.failed {
		if f == "" {
			out = append(out, i)
		}
	}
	return out
}

// over tells that there is nothing left to compare.
func (s *subject) over() bool { return s.failed[0] != "" || len(s.alive()) < 2 }

// compare fills in the comparisons of what was run so far.
func (s *subject) compare(kind string, gate []string) {
	for i := range s.against {
		c := &s.against[i]
		*c = Comparison{Name: s.name, Package: s.path, Side: i + 1, Iterations: s.iterations, Failed: [2]string{s.failed[0], s.failed[i+1]}}
		for _, r := range s.runs {
			switch r.Side {
			case 0:
				c.Runs = append(c.Runs, r)
			case i + 1:
				r.Side = 1
				c.Runs = append(c.Runs, r)
			}
		}
		compare(c, kind, gate)
	}
}

// learn takes the time of a run into what the next one is expected to take.
func (s *subject) learn(r Sample) {
	at := &s.expected[r.Side]
	if *at == 0 {
		*at = r.Wall
	}
	*at = (*at + r.Wall) / 2
}

// measured tells whether there is a pair to report on.
func (s *subject) measured() bool {
	return slices.ContainsFunc(s.against, func(c Comparison) bool { return c.Pairs > 0 })
}

// stop is the rule by which measuring a subject ends: it has the pairs that a
// call needs, and the interval of each timed change that is judged is narrow
// enough; or it has as many pairs as are allowed, which may be fewer. It looks
// at widths only, never at which side is ahead.
func (s *subject) stop(needed int, r Rules) bool {
	if s.over() {
		return true
	}
	for _, side := range s.alive()[1:] {
		c := s.against[side-1]
		switch {
		case c.Pairs >= r.MaxPairs:
		case c.Pairs >= exactRuns && (c.Failed != [2]string{} || len(c.Differs) > 0):
			// More runs of what is not compared tell nothing.
		case c.Pairs < needed, c.wide(r.Precision):
			return false
		}
	}
	return true
}

// wide tells whether a timed change that is judged is not known to ± precision.
func (c Comparison) wide(precision float64) bool {
	return slices.ContainsFunc(c.Changes, func(ch Change) bool {
		return ch.Judged && !ch.Count && ch.halfWidth() > precision
	})
}
