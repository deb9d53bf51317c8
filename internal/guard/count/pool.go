package count

import (
	"context"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/trial/version"
)

// refill is what an operation of a benchmark allocates more where all pools are empty. Both processes
// run it twice, and the second run counts: the first one also fills what is filled once.
func (c *Counter) refill(ctx context.Context, p Package, name string, r Run) (budget.Amount, error) {
	r.Ops, r.CPU, r.Args = 1, 1, append(slices.Clone(r.Args), "-test.count=2")
	full, err := c.Count(ctx, p, []string{name}, r)
	if err != nil {
		return budget.Amount{}, err
	}
	r.Env = append(slices.Clone(r.Env), version.EmptyPools+"=1")
	empty, err := c.Count(ctx, p, []string{name}, r)
	if err != nil {
		return budget.Amount{}, err
	}
	a, b := empty[name], full[name]
	return budget.Amount{Allocs: math.Max(a.Allocs-b.Allocs, 0), Bytes: math.Max(a.Bytes-b.Bytes, 0)}, nil
}

// refilled is the figure of runs in each of which pools may be filled anew by so much: each processor
// has pools of its own, and the scheduler may move a benchmark to all of them. How often it did that
// while the runs were counted says nothing of other days.
func refilled(f budget.Figure, runs []budget.Amount, more budget.Amount) budget.Figure {
	least := ExtremesOf(runs).Least
	ops := float64(max(f.Ops, 1))
	reach := budget.Amount{Allocs: least.Allocs + more.Allocs/ops, Bytes: least.Bytes + more.Bytes/ops}
	if allocs, bytes := f.Over(reach); allocs || bytes {
		f.Tolerance.Allocs = math.Max(f.Tolerance.Allocs, roundUp(reach.Allocs-f.Allocs))
		f.Tolerance.Bytes = math.Max(f.Tolerance.Bytes, roundUp(reach.Bytes-f.Bytes))
	}
	return f
}
