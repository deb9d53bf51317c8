package fix

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// mostOthers is how many benchmarks beside its own an edit is counted in: of those that reach its line, and of those that
// run its function on another way, each.
const mostOthers = 3

// chance is the part of what a benchmark allocates by which two of its runs may differ if it works on random data.
const chance = 0.01

// worse says in which of the other benchmarks that an edit may touch its attempt allocates more; "" for none. A benchmark
// that fails, or that there is no time for, says nothing.
func (s *search) worse(ctx context.Context, a *Attempt, files trial.Files) string {
	if s.o.Meter != nil {
		return "" // the load is all that there is
	}
	for _, other := range s.others(a) {
		if s.spent() {
			return ""
		}
		before, err := s.before(ctx, other)
		if err != nil {
			continue
		}
		after, err := s.counted(ctx, other, files)
		if err == nil && before.Less(after) && (after.Allocs > (1+chance)*before.Allocs || after.Bytes > (1+chance)*before.Bytes) {
			return fmt.Sprintf("%s allocates more: %s", other.Name, change(before, after))
		}
	}
	return ""
}

// others are the benchmarks, beside its own, in which the finding of an attempt costs most, and those that run its function
// without that line, where an edit can only cost something.
func (s *search) others(a *Attempt) []trial.Bench {
	reach, pass := map[string]float64{}, map[string]float64{}
	for _, r := range a.Finding.ByRun {
		reach[r.Run] = r.Cost.ObjectsPerOp.Value
	}
	for _, row := range s.report.Prescription.Rows {
		for _, r := range row.Finding.ByRun {
			if _, also := reach[r.Run]; !also && row.Site.Function == a.Finding.Site.Function {
				pass[r.Run] += r.Cost.ObjectsPerOp.Value
			}
		}
	}
	var out []trial.Bench
	for _, runs := range []map[string]float64{reach, pass} {
		names := slices.SortedFunc(maps.Keys(runs), func(a, b string) int { return cmp.Or(cmp.Compare(runs[b], runs[a]), cmp.Compare(a, b)) })
		looked := 0
		for _, name := range names {
			b, ok := s.benchs[name]
			other := trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.NsPerOp}
			if ok && other != a.Bench && looked < mostOthers {
				out = append(out, other)
				looked++
			}
		}
	}
	return out
}

// change is what an operation allocates before and after, in words.
func change(before, after trial.Counts) string {
	t := finding.Trial{Before: amount(before), After: amount(after)}
	return t.Counts()
}
