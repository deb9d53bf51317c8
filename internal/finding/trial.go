package finding

import (
	"fmt"
	"math"
)

// Trial is an edit for a finding, and what came of it alone.
type Trial struct {
	Finding  int    // its number
	Code     string // of the cure that the edit applies
	Kind     string // of edit
	Tried    bool   // false: there was no time for it, and all below Question is zero
	Text     string // what it does
	Question string // what it rests on and the source does not prove; empty for a safe edit
	Gone     bool   // what the line allocated is not allocated any more, nor anything in its place: that needs no trial
	Bench    string // the benchmark that counted
	Before   Amount
	After    Amount
	Fault    string // why it does not hold; empty where it allocates as much, or more of one and less of the other
	Holds    bool   // it allocates less, and no test fails with it
	Tested   bool   // tests of the package passed with it
}

// Amount is what an operation allocates, as a mean.
type Amount struct{ Allocs, Bytes float64 }

// Counts says what a trial counted, in words: "5 → 2 allocs/op", and that no test looked at it, or not in time; or why
// the edit does not hold.
func (t *Trial) Counts() string {
	allocs := fmt.Sprintf("%s → %s allocs/op", count(t.Before.Allocs), count(t.After.Allocs))
	bytes := fmt.Sprintf("%.0f → %.0f B/op", t.Before.Bytes, t.After.Bytes)
	switch same := math.Abs(t.Before.Allocs-t.After.Allocs) <= 0.01; {
	case t.Fault != "":
		return t.Fault
	case same && t.Holds && !t.Tested:
		return bytes + ", not tested"
	case same:
		return bytes
	case !t.Holds && t.After.Bytes > t.Before.Bytes:
		return allocs + ", " + bytes
	case t.Holds && !t.Tested:
		return allocs + ", not tested"
	}
	return allocs
}

// Proof is the counts of a trial that holds, followed by the open question of its edit, if any.
func (t *Trial) Proof() string {
	if t.Question == "" {
		return t.Counts()
	}
	return t.Counts() + "; " + t.Question
}

// count prints a mean of whole numbers: without a fraction where that comes from the first operations
// of a run only.
func count(v float64) string {
	if math.Abs(v-math.Round(v)) < 0.05 || v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// Judged has the best edit of each cure that holds, and the last that does not, by the cure's code. An edit after which
// there are fewer objects, and more bytes, is neither: its size does not hold, which says nothing of another one. Nor is one
// that fails and left a question open: the answer was no, and there may be other ways to do what the cure says.
func Judged(trials []Trial) (best, failed map[string]*Trial) {
	best, failed = map[string]*Trial{}, map[string]*Trial{}
	for i := range trials {
		t := &trials[i]
		switch b := best[t.Code]; {
		case !t.Tried, !t.Holds && t.Question != "", !t.Holds && t.Fault == "" && t.After.Allocs < t.Before.Allocs-0.01:
		case !t.Holds:
			failed[t.Code] = t
		case b == nil, t.Before.Allocs-t.After.Allocs > b.Before.Allocs-b.After.Allocs:
			best[t.Code] = t
		}
	}
	return best, failed
}
