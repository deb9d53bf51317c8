package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// together predicts what the remedies of all rows save together. The share of CPU is not a
// sum: with less garbage there are fewer cycles, which counts once. A row without a cut
// is ignored, since its saving overlaps with that of other rows. The zero Prediction says that no finding has a cut.
func together(s *diagnose.Session, rows []finding.Row) finding.Prediction {
	var cuts []finding.Cut
	for _, r := range rows {
		for _, c := range r.Cuts {
			cuts = addCut(cuts, c)
		}
	}
	if len(cuts) == 0 {
		return finding.Prediction{}
	}
	return s.Saving(cuts)
}
