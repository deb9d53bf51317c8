package rank

import (
	"cmp"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// Whole is the finding of a row with the costs, the runs and the places of what an object holds, and the saving without all
// of it. None of them is changed.
func Whole(row, object *finding.Finding, held []*finding.Finding, removal finding.Prediction) *finding.Finding {
	f := *row
	f.Removal = &removal
	if len(f.Allocation.Places) == 0 {
		f.Allocation.Places = []finding.Place{{Site: object.Site, Share: object.Weight()}}
	} else {
		f.Allocation.Places = slices.Clone(f.Allocation.Places)
		for i := range f.Allocation.Places {
			f.Allocation.Places[i].Share *= object.Weight()
		}
	}
	for _, h := range held {
		f.Cost = f.Cost.Add(h.Cost)
		for _, r := range h.ByRun {
			f.ByRun = finding.AddRun(slices.Clone(f.ByRun), r)
		}
		f.Allocation.Places = append(f.Allocation.Places, finding.Place{Site: h.Site, Share: h.Weight()})
	}
	f.Allocation.Places = finding.Shares(f.Allocation.Places)
	slices.SortStableFunc(f.Allocation.Places, func(a, b finding.Place) int { return cmp.Compare(b.Share, a.Share) })
	return &f
}
