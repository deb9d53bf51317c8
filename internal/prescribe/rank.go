package prescribe

import (
	"cmp"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// unknownCure is how much of a site's cost counts for its rank when no cure is
// known: somebody may find one.
const unknownCure = least

// saving is the score of a row: the predicted share of CPU, or of bytes if CPU was not
// sampled, times the fit.
func saving(s *diagnose.Session, r *finding.Row) float64 {
	cpu, bytes := r.Remedy.Fit*r.Remedy.Saves.CPU.Value, r.Remedy.Fit*bytesSaved(s, r)
	if r.Remedy.Code == leaveIt.Code {
		cpu, bytes = unknownCure*r.Cost.CPU.Value, unknownCure*s.ByteShare(r.Finding)
	}
	if s.Diagnosis().Totals.Samples > 0 {
		return cpu
	}
	return bytes
}

// bytesSaved is the share of all bytes that the row's cure removes.
func bytesSaved(s *diagnose.Session, r *finding.Row) float64 {
	if r.Cut == nil {
		return 0
	}
	return r.Cut.Bytes * s.ByteShare(r.Finding)
}

// rank orders rows by the saving of their cures, drops those below the threshold, and
// returns their number. As in the diagnosis, a function's best line is ranked by the saving
// of the whole function.
func rank(s *diagnose.Session, rows []finding.Row, threshold float64) (kept []finding.Row, left int) {
	total := map[string]float64{}
	for i := range rows {
		r := &rows[i]
		if r.Remedy.Code != skipWork.Code { // counts what other rows count
			total[r.Site.Function] += saving(s, r)
		}
		if below(s, r, threshold) {
			left++
			continue
		}
		kept = append(kept, *r)
	}
	slices.SortStableFunc(kept, func(a, b finding.Row) int {
		at, bt := a.Site, b.Site
		return cmp.Or(cmp.Compare(saving(s, &b), saving(s, &a)), cmp.Compare(at.File, bt.File), cmp.Compare(at.Line, bt.Line))
	})
	type placed struct {
		row finding.Row
		key float64
	}
	order := make([]placed, len(kept))
	for i, r := range kept {
		order[i] = placed{r, saving(s, &r)}
		if t, first := total[r.Site.Function]; first && leads(r) {
			order[i].key = max(t, order[i].key)
			delete(total, r.Site.Function)
		}
	}
	slices.SortStableFunc(order, func(a, b placed) int { return cmp.Compare(b.key, a.key) })
	for i, p := range order {
		kept[i] = p.row
		kept[i].Rank = i + 1
	}
	return kept, left
}

// leads reports whether a row can represent its function: it names a cure of its own.
func leads(r finding.Row) bool {
	return r.Remedy.Code != skipWork.Code && r.Remedy.Code != leaveIt.Code
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
	return cpu < threshold && bytes < threshold
}
