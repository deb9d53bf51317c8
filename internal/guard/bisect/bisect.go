// Package bisect searches commits for the one that made a benchmark allocate more, and counts about as
// many of them as their number has binary digits.
package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// Step is a commit that was counted.
type Step struct {
	Commit, Title string
	Amount        budget.Amount
	Ops           int64  // operations of a run
	Skipped       string // why it could not be counted; "" if it was
	Grew          bool
}

// Result is how a search ended.
type Result struct {
	Good, Bad Step
	Steps     []Step // in the order in which they were counted, the ends first
	First     *Step  // the commit that made it grow; nil if that is not known
	Between   []Step // if it is not: those that could not be counted, one of which it is or follows
}

// ErrNotGrown means that the later end of a search allocates no more than the earlier one.
var ErrNotGrown = errors.New("allocates no more than")

// Search is a search among some commits, in order. Count counts one of them, and says in the step why
// it cannot.
type Search struct {
	Commits int
	Count   func(ctx context.Context, i int) (Step, error)

	known map[int]Step
	out   Result
}

// Run halves the range until the commits next to each other are known.
func (s *Search) Run(ctx context.Context) (Result, error) {
	s.known = map[int]Step{}
	low, high := 0, s.Commits-1
	good, bad, err := s.ends(ctx)
	if err != nil {
		return s.out, err
	}
	for {
		middle, ok := s.middle(low, high)
		if !ok {
			break
		}
		step, err := s.at(ctx, middle)
		if err != nil {
			return s.out, err
		}
		if step.Skipped != "" {
			continue
		}
		if nearer(step, good, bad) {
			high = middle
			step.Grew = true
			s.known[middle] = step
			s.out.Steps[len(s.out.Steps)-1].Grew = true
		} else {
			low = middle
		}
	}
	s.out.Good, s.out.Bad = good, bad
	if first := s.known[high]; high-low == 1 {
		s.out.First = &first
		return s.out, nil
	}
	for i := low + 1; i <= high; i++ {
		s.out.Between = append(s.out.Between, s.known[i])
	}
	return s.out, nil
}

// ends counts both ends, of which the later one has to be above the other.
func (s *Search) ends(ctx context.Context) (good, bad Step, err error) {
	if bad, err = s.at(ctx, s.Commits-1); err != nil {
		return good, bad, err
	}
	if good, err = s.at(ctx, 0); err != nil {
		return good, bad, err
	}
	for _, end := range []Step{good, bad} {
		if end.Skipped != "" {
			return good, bad, fmt.Errorf("%.12s cannot be counted: %s", end.Commit, end.Skipped)
		}
	}
	limit := budget.Figure{Amount: good.Amount, Ops: good.Ops}
	if allocs, bytes := limit.Over(bad.Amount); !allocs && !bytes {
		err = fmt.Errorf("%.12s %w %.12s: %s allocs/op and %s, %s B/op and %s", bad.Commit, ErrNotGrown, good.Commit,
			budget.Number(bad.Amount.Allocs), budget.Number(good.Amount.Allocs), budget.Number(bad.Amount.Bytes), budget.Number(good.Amount.Bytes))
	}
	return good, bad, err
}

// at counts a commit, once.
func (s *Search) at(ctx context.Context, i int) (Step, error) {
	if step, ok := s.known[i]; ok {
		return step, nil
	}
	step, err := s.Count(ctx, i)
	if err != nil {
		return step, err
	}
	s.known[i] = step
	s.out.Steps = append(s.out.Steps, step)
	return step, nil
}

// nearer reports whether a step is like the bad end: above the middle of both.
func nearer(step, good, bad Step) bool {
	if bad.Amount.Allocs-good.Amount.Allocs > 1e-3 {
		return step.Amount.Allocs > (good.Amount.Allocs+bad.Amount.Allocs)/2
	}
	return step.Amount.Bytes > (good.Amount.Bytes+bad.Amount.Bytes)/2
}

// middle is the commit nearest to the middle of a range that was not tried.
func (s *Search) middle(low, high int) (int, bool) {
	best, distance := 0, math.Inf(1)
	for i := low + 1; i < high; i++ {
		if _, tried := s.known[i]; tried {
			continue
		}
		if d := math.Abs(float64(i) - float64(low+high)/2); d < distance {
			best, distance = i, d
		}
	}
	return best, !math.IsInf(distance, 1)
}
