package guard

import (
	"context"
	"math"

	"github.com/heaptrim/heaptrim/internal/guard/count"
)

// A run allocates what is not of its operations, such as what they take from a pool: pools are kept by
// processor, and the scheduler may move a benchmark to one whose pools are empty.
const (
	mostOfRun = 64 // objects of a run that may be such
	moreOps   = 10 // times as many operations, in which that weighs so much less
)

// mayBeOfRun reports whether what a benchmark grew by may not be of its operations.
func mayBeOfRun(b *Bench) bool {
	return b.Base == nil && b.Site == "" && (b.Now.Allocs-b.Line.Figure.Allocs)*float64(b.Ops) <= mostOfRun
}

// ofRun counts more operations of a benchmark that grew, where no other version can be counted. What
// is not above its budget in each of these runs too did not grow.
func (x explanation) ofRun(ctx context.Context, bench *Bench) error {
	times := math.Min(moreOps, count.MostBytes/math.Max(bench.Now.Bytes*float64(bench.Ops), 1))
	if !mayBeOfRun(bench) || times < 2 {
		return nil
	}
	run := count.Run{Ops: int64(times) * bench.Ops, CPU: bench.CPU}
	var all extremes
	for round := range again + 1 {
		found, err := x.counter.Count(ctx, x.pkgs[bench.Subject], []string{bench.Name}, run)
		if err != nil {
			return err
		}
		r, ok := found[bench.Name]
		if !ok {
			return nil
		}
		if round == 0 {
			all = extremesOf(r.Amount)
		}
		if all = all.with(r.Amount); all.against(bench.Line.Figure) != Grew {
			bench.Status = Within
			return nil
		}
	}
	return nil
}
