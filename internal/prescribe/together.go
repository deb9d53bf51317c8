package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// together predicts what the remedies of all rows save together. The share of CPU is not a
// sum: with less garbage there are fewer cycles, which counts once. A finding without a cut
// is ignored, since its saving overlaps with that of other rows. Of several findings of one
// site the first counts. The zero Prediction says that no finding has a cut.
func together(s *diagnose.Session, rows []finding.Row) finding.Prediction {
	type place struct {
		function, file string
		line           int
	}
	seen := map[place]bool{}
	var cuts []finding.Cut
	for _, r := range rows {
		at := place{r.Site.Function, r.Site.File, r.Site.Line}
		if r.Cut == nil || seen[at] {
			continue
		}
		seen[at] = true
		cuts = append(cuts, *r.Cut)
	}
	if len(cuts) == 0 {
		return finding.Prediction{}
	}
	return s.Saving(cuts)
}
