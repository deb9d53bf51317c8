package prescribe

import "github.com/heaptrim/heaptrim/internal/diagnose"

// Together predicts what the remedies of all findings of d save together. The
// share of CPU is not a sum: with less garbage there are fewer cycles, which
// counts once. A finding without a cut is left out, since its saving overlaps
// with that of other rows, and of several findings of one site the first
// counts. Amounts per operation are of the run of the first finding that
// counts. The zero Prediction says that no finding has a cut.
func Together(d *diagnose.Diagnosis) diagnose.Prediction {
	type place struct {
		function, file string
		line           int
	}
	seen := map[place]bool{}
	var cuts []diagnose.Cut
	for i := range d.Findings {
		f := &d.Findings[i]
		at := place{f.Site.Function, f.Site.File, f.Site.Line}
		if f.Cut == nil || seen[at] {
			continue
		}
		seen[at] = true
		cuts = append(cuts, *f.Cut)
	}
	if len(cuts) == 0 {
		return diagnose.Prediction{}
	}
	return d.Saving(cuts)
}
