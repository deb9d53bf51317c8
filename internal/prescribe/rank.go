package prescribe

import (
	"cmp"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose"
)

// unknownCure is how much of a site's cost counts for its rank when no cure is
// known: somebody may find one.
const unknownCure = 0.3

// saving is what a finding is ranked by: the predicted share of CPU, or of
// bytes where CPU was not sampled, as far as the evidence points at the cure.
func saving(d *diagnose.Diagnosis, f *diagnose.Finding) float64 {
	cpu, bytes := f.Remedy.Fit*f.Prediction.CPU.Value, f.Remedy.Fit*bytesSaved(d, f)
	if f.Code == leaveIt.Code {
		cpu, bytes = unknownCure*f.Cost.CPU.Value, unknownCure*bytesShare(d, f)
	}
	if d.Totals.Samples > 0 {
		return cpu
	}
	return bytes
}

// bytesShare is the finding's share of all bytes allocated.
func bytesShare(d *diagnose.Diagnosis, f *diagnose.Finding) float64 {
	return d.ByteShare(f)
}

// bytesSaved is the share of all bytes that the finding's cure takes away.
func bytesSaved(d *diagnose.Diagnosis, f *diagnose.Finding) float64 {
	if f.Cut == nil {
		return 0
	}
	return f.Cut.Bytes * bytesShare(d, f)
}

// rank orders the findings by what their cures save and takes out those below
// the threshold. As in the diagnosis, a function's best line stands where all
// of the function belongs.
func rank(d *diagnose.Diagnosis, threshold float64) {
	total := map[string]float64{}
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Code != skipWork.Code { // counts what other rows count
			total[f.Site.Function] += saving(d, f)
		}
	}
	kept := d.Findings[:0]
	for _, f := range d.Findings {
		if below(d, &f, threshold) {
			d.BelowThreshold++
			continue
		}
		kept = append(kept, f)
	}
	d.Findings = kept
	slices.SortStableFunc(kept, func(a, b diagnose.Finding) int {
		return cmp.Or(cmp.Compare(saving(d, &b), saving(d, &a)), cmp.Compare(a.Site.File, b.Site.File), cmp.Compare(a.Site.Line, b.Site.Line))
	})
	key := make([]float64, len(kept))
	for i := range kept {
		key[i] = saving(d, &kept[i])
		if t, first := total[kept[i].Site.Function]; first && leads(kept[i]) {
			key[i] = max(t, key[i])
			delete(total, kept[i].Site.Function)
		}
	}
	order := make([]int, len(kept))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(key[b], key[a]) })
	sorted := make([]diagnose.Finding, len(kept))
	for i, k := range order {
		sorted[i] = kept[k]
		sorted[i].Rank = i + 1
	}
	for i := range sorted {
		if sorted[i].Cut != nil {
			sorted[i].Cut.Finding = &sorted[i]
		}
	}
	d.Findings = sorted
}

// leads reports whether a finding can stand for its function: it names a cure
// of its own.
func leads(f diagnose.Finding) bool { return f.Code != skipWork.Code && f.Code != leaveIt.Code }

// below reports whether a finding is not worth its line: neither what its cure
// saves nor, where none is known, what it costs reaches the threshold.
func below(d *diagnose.Diagnosis, f *diagnose.Finding, threshold float64) bool {
	cpu, bytes := f.Prediction.CPU.Value, bytesSaved(d, f)
	if f.Code == leaveIt.Code {
		cpu, bytes = f.Cost.CPU.Value, bytesShare(d, f)
	}
	if threshold < 0 {
		return false
	}
	return cpu < threshold && bytes < threshold
}
