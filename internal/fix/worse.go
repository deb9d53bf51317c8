package fix

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// mostOthers is how many benchmarks beside its own an edit is counted in.
const mostOthers = 3

// worse says in which of the other benchmarks that reach its line an attempt allocates more; "" for none. A benchmark
// that fails, or that there is no time for, says nothing.
func (s *search) worse(ctx context.Context, a *Attempt, files trial.Files) string {
	if s.o.Meter != nil {
		return "" // the load is all that there is
	}
	runs := slices.Clone(a.Finding.ByRun)
	slices.SortStableFunc(runs, func(a, b finding.RunCost) int {
		return cmp.Compare(b.Cost.ObjectsPerOp.Value, a.Cost.ObjectsPerOp.Value)
	})
	looked := 0
	for _, r := range runs {
		b, ok := s.benchs[r.Run]
		other := trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp}
		if !ok || other == a.Bench || looked == mostOthers || s.spent() {
			continue
		}
		looked++
		before, err := s.before(ctx, other)
		if err != nil {
			continue
		}
		if after, err := s.counted(ctx, other, files); err == nil && before.Less(after) {
			return fmt.Sprintf("%s allocates more: %s", other.Name, change(before, after))
		}
	}
	return ""
}

// change is what an operation allocates before and after, in words.
func change(before, after trial.Counts) string {
	t := finding.Trial{Before: amount(before), After: amount(after)}
	return t.Counts()
}
