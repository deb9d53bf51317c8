package fix

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/trial"
)

// mostOthers is how many benchmarks beside its own an edit is counted in: of those that allocate most at its line, of those
// that allocate least there, and of those that run its function on another way, each.
const mostOthers = 2

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

// others are benchmarks beside an attempt's own that reach its line, and some that run its function without that line, where
// an edit can only cost something. Where little is allocated, an allocation more counts most.
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
	least := s.leastFirst(reach, a.Bench)
	most := slices.Clone(least)
	slices.Reverse(most)
	var out []trial.Bench
	for _, list := range [][]trial.Bench{most, least, s.leastFirst(pass, a.Bench)} {
		for _, b := range list[:min(len(list), mostOthers)] {
			if !slices.Contains(out, b) {
				out = append(out, b)
			}
		}
	}
	return out
}

// leastFirst are the benchmarks of runs but one, ordered by what the runs have.
func (s *search) leastFirst(runs map[string]float64, but trial.Bench) []trial.Bench {
	names := slices.SortedFunc(maps.Keys(runs), func(a, b string) int { return cmp.Or(cmp.Compare(runs[a], runs[b]), cmp.Compare(a, b)) })
	var out []trial.Bench
	for _, name := range names {
		b, ok := s.benchs[name]
		if bench := (trial.Bench{Package: b.Package, Name: b.Name, NsPerOp: b.Pace.NsPerOp}); ok && bench != but {
			out = append(out, bench)
		}
	}
	return out
}

// change is what an operation allocates before and after, in words.
func change(before, after trial.Counts) string {
	t := finding.Trial{Before: amount(before), After: amount(after)}
	return t.Counts()
}

// slight is the share by which an edit may make something worse that it makes better in something else, as a slab does
// whose size class is a little larger than all that it replaces.
const slight = 0.02

// outweighs reports whether a benchmark is worse with the edits, and not only slightly so beside a gain.
func outweighs(c prove.Comparison) bool {
	more := slices.ContainsFunc(c.Changes, func(ch prove.Change) bool {
		return ch.Outcome == prove.Worse && !(math.Abs(ch.Delta.Value) <= slight) // nor where nothing was before
	})
	return c.Outcome == prove.Worse || c.Outcome == prove.Mixed && more
}
