package bisect

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// search looks for the commit grew among n, of which some do not build.
func search(n, grew int, skipped ...int) (Result, error) {
	s := Search{Commits: n, Count: func(_ context.Context, i int) (Step, error) {
		step := Step{Commit: fmt.Sprint(i), Ops: 1000, Amount: budget.Amount{Allocs: 1, Bytes: 16}}
		if i >= grew {
			step.Amount = budget.Amount{Allocs: 2, Bytes: 48}
		}
		if slices.Contains(skipped, i) {
			step.Skipped = "it does not build"
		}
		return step, nil
	}}
	return s.Run(context.Background())
}

// TestRun: the commit is found wherever it is, in as many builds as the number of commits has digits.
func TestRun(t *testing.T) {
	for n := 2; n < 70; n++ {
		for grew := 1; grew < n; grew++ {
			r, err := search(n, grew)
			if err != nil || r.First == nil || r.First.Commit != fmt.Sprint(grew) {
				t.Fatalf("%d of %d: %+v, %v", grew, n, r.First, err)
			}
			if most := 2 + bits.Len(uint(n-2)); len(r.Steps) > most {
				t.Errorf("%d of %d: %d builds, want at most %d", grew, n, len(r.Steps), most)
			}
		}
	}
}

// TestSkipped: commits that cannot be counted are passed over, and named where the one is among them.
func TestSkipped(t *testing.T) {
	if r, err := search(20, 13, 9, 10, 11); err != nil || r.First == nil || r.First.Commit != "13" {
		t.Errorf("%+v, %v", r, err)
	}
	r, err := search(20, 10, 9, 10)
	if err != nil || r.First != nil || len(r.Between) != 3 || r.Between[2].Commit != "11" {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := search(3, 1, 2); err == nil {
		t.Error("an end that cannot be counted: no error")
	}
	if _, err := search(3, 5); !errors.Is(err, ErrNotGrown) {
		t.Errorf("nothing grew: %v", err)
	}
}
