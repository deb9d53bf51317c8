package prescribe

import (
	"cmp"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// figure is what a row is ranked by and what reports show in its column: the predicted share of
// CPU; without CPU samples the bytes of an operation, or of the recording. Of a row without a
// cure it is the cost.
func figure(s *diagnose.Session, r *finding.Row) float64 {
	left := r.Remedy.Code == leaveIt.Code
	switch saves := r.Remedy.Saves; {
	case s.Diagnosis().Totals.Samples > 0 && left:
		return r.Cost.CPU.Value
	case s.Diagnosis().Totals.Samples > 0:
		return saves.CPU.Value
	case left && r.Cost.BytesPerOp.Value > 0:
		return r.Cost.BytesPerOp.Value
	case saves.BytesPerOp.Value > 0:
		return saves.BytesPerOp.Value
	case left:
		return s.ByteShare(r.Finding)
	}
	return bytesSaved(s, r)
}

// bytesSaved is the share of all bytes that the row's cure removes.
func bytesSaved(s *diagnose.Session, r *finding.Row) float64 {
	if r.Cut == nil {
		return 0
	}
	return r.Cut.Bytes * s.ByteShare(r.Finding)
}

// rank orders rows by what their cures save, and after them those without a cure by what
// they cost. It drops those below the threshold, and returns their number.
func rank(s *diagnose.Session, rows []finding.Row, threshold float64) (kept []finding.Row, left int) {
	for i := range rows {
		if below(s, &rows[i], threshold) {
			left++
			continue
		}
		kept = append(kept, rows[i])
	}
	slices.SortStableFunc(kept, func(a, b finding.Row) int {
		at, bt := a.Site, b.Site
		return cmp.Or(
			compareBool(a.Remedy.Code == leaveIt.Code, b.Remedy.Code == leaveIt.Code),
			cmp.Compare(figure(s, &b), figure(s, &a)), cmp.Compare(at.File, bt.File), cmp.Compare(at.Line, bt.Line),
		)
	})
	for i := range kept {
		kept[i].Rank = i + 1
	}
	return kept, left
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// below reports whether a row is below the threshold: the saving of its cure, or its cost if
// no cure is known.
func below(s *diagnose.Session, r *finding.Row, threshold float64) bool {
	cpu, bytes := r.Remedy.Saves.CPU.Value, bytesSaved(s, r)
	if r.Remedy.Code == leaveIt.Code {
		cpu, bytes = r.Cost.CPU.Value, s.ByteShare(r.Finding)
	}
	if threshold < 0 {
		return false
	}
	if rare(r) {
		return cpu < threshold // a share of nearly nothing says nothing
	}
	return cpu < threshold && bytes < threshold
}

// rareObjects is the number of objects an operation below which a share of the bytes alone
// gives no row: warm-up, a pool's first objects, a cache that fills.
const rareObjects = 0.01

// rare reports whether a site of a benchmark allocates nearly never.
func rare(r *finding.Row) bool {
	return r.Cost.BytesPerOp.Value > 0 && r.Cost.ObjectsPerOp.Value < rareObjects
}
