package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/trial/equal"
)

// Question is a change that is to do what the code as it is does.
type Question struct {
	Files   Files
	Judged  Files    // those of changes that held before, which Files have, too
	Changed []string // packages of the files
	Tests   []string // packages whose tests are to pass
	Bench   []string // benchmarks of the changed packages whose calls are compared, too
	Race    bool     // call functions from several goroutines, too
	Proved  bool     // what did not run need not be looked at
}

// Fault is why a change does not hold.
type Fault string

// The faults.
const (
	Builds  Fault = "no build" // it does not compile
	Fails   Fault = "breaks"   // a test fails
	Differs Fault = "differs"  // a call shows something else
	Unknown Fault = "unknown"  // neither a test nor a call looked at it
)

// Verdict is what became of a question.
type Verdict struct {
	Fault   Fault // empty if it holds
	Why     string
	Passed  int // tests
	Late    bool
	Compare equal.Verdict // of all changed packages together
	Refused []string      // why packages could not be compared
}

// Holds finds out whether a change does what the code as it is does: the tests that passed pass, and
// calls of what was changed show the same.
func (j *Judge) Holds(ctx context.Context, q Question) (Verdict, error) {
	var v Verdict
	for _, path := range q.Tests {
		if err := j.pass(ctx, path, q.Files, &v); err != nil || v.Fault != "" {
			return v, err
		}
	}
	for _, path := range q.Changed {
		if err := j.same(ctx, path, q, &v); err != nil || v.Fault != "" {
			return v, err
		}
	}
	switch {
	case v.Passed == 0 && !v.Compare.Covers():
		v.Fault, v.Why = Unknown, "no test passes, and no call could be compared"
		if v.Late {
			v.Why = "the tests take longer than the time that is left, and no call could be compared"
		}
	case !q.Proved && len(q.Changed) > 0 && v.Compare.Reached < v.Compare.Blocks:
		v.Fault, v.Why = Unknown, fmt.Sprintf("neither tests nor generated calls run %d of %d parts of the change", v.Compare.Blocks-v.Compare.Reached, v.Compare.Blocks)
	}
	return v, nil
}

// pass runs the tests of a package.
func (j *Judge) pass(ctx context.Context, path string, files Files, v *Verdict) error {
	before, err := j.State(ctx, path)
	if err != nil {
		return err
	}
	if before.Late {
		v.Late = true
		return nil
	}
	after, err := j.Test(ctx, path, files)
	if err != nil {
		return err
	}
	if after.Late {
		v.Late = true
		return nil
	}
	if name := after.Breaks(before); name != "" {
		v.Fault, v.Why = Fails, name
		if name == path {
			v.Fault, v.Why = Builds, after.Output
		}
		return nil
	}
	v.Passed += len(after.Passed)
	return nil
}

// same compares what calls of a package show.
func (j *Judge) same(ctx context.Context, path string, q Question, v *Verdict) error {
	before, err := j.State(ctx, path)
	if err != nil {
		return err
	}
	ch := equal.Change{Package: path, Files: q.Files, Judged: q.Judged, Skip: slices.Concat(before.Failed, before.Slow), Bench: q.Bench, Race: q.Race, Leave: j.o.Skip}
	what := fmt.Sprintf("calls %s %q %q %q %v", ch.Judged.Hash(), ch.Skip, ch.Leave, ch.Bench, ch.Race)
	c, err := remember(ctx, &j.memory, question{path, q.Files.Hash(), what}, func() (equal.Verdict, bool, error) {
		c, err := j.comparer.Compare(ctx, ch)
		return c, err == nil, err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrBuild) || err != nil:
		v.Refused = append(v.Refused, fmt.Sprintf("%s: %v", path, err))
		return nil
	}
	v.Compare = join(v.Compare, c)
	if c.Differs != "" {
		v.Fault, v.Why = Differs, c.Differs
	}
	return nil
}

// join adds up comparisons.
func join(a, b equal.Verdict) equal.Verdict {
	a.Differs = b.Differs
	a.Calls += b.Calls
	a.TestCalls += b.TestCalls
	a.Reached += b.Reached
	a.Blocks += b.Blocks
	a.Raced = a.Raced || b.Raced
	a.Functions = append(a.Functions, b.Functions...)
	if a.Left == nil {
		a.Left = map[string]string{}
	}
	for name, why := range b.Left {
		a.Left[name] = why
	}
	return a
}

// twice reports whether there is time for a second run of tests of which one took so long, beside those with changes.
func twice(until time.Time, took time.Duration) bool {
	const runs = 5
	return until.IsZero() || time.Until(until) >= runs*took
}

// State is what the tests of a package do without any change: they run twice, once for all
// questions, and those that fail in either run are not held against a change. Where a run takes a good part of the time
// that is left, one has to do: a change is then refused for a test that fails by chance.
func (j *Judge) State(ctx context.Context, path string) (Tests, error) {
	if t, ok := j.tests[path]; ok {
		return t, nil
	}
	what := fmt.Sprintf("state %q", j.o.Skip)
	t, err := remember(ctx, &j.memory, question{path, "", what}, func() (Tests, bool, error) {
		start := time.Now()
		once, err := j.test(ctx, suite{path, 1}, nil)
		if err != nil || once.Late || !twice(j.o.Until, time.Since(start)) {
			return once, false, err
		}
		again, err := j.test(ctx, suite{path, 2}, nil)
		once = once.Both(again)
		once.Late = again.Late
		return once, !once.Late, err
	})
	if err == nil {
		j.tests[path] = t
	}
	return t, err
}

// Place is a line of a file.
type Place = equal.Place

// Concerned are the tests of a package that fail without any change and run what is at some places, or
// of whose reach nothing is known.
func (j *Judge) Concerned(ctx context.Context, path string, places []Place) ([]string, error) {
	before, err := j.State(ctx, path)
	if err != nil || len(before.Failed) == 0 {
		return nil, err
	}
	reach, err := j.comparer.Reach(ctx, path, before.Failed, places)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || reach {
		return before.Failed, nil
	}
	return nil, nil
}
