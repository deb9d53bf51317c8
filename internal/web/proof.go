package web

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/schema"
)

// predicted is a cure of the recording that is compared with which this one
// does not need any more.
type predicted struct {
	Code     string           `json:"code"`
	Function string           `json:"function"`
	File     string           `json:"file"`
	Line     int              `json:"line"`
	CPU      *schema.Interval `json:"cpu_share"`
	Bytes    *float64         `json:"bytes_per_op"`
	Objects  *float64         `json:"objects_per_op"`
}

// newProof is a comparison without its single runs, which stay in the document.
func newProof(p *schema.Prove) *schema.Prove {
	if p == nil {
		return nil
	}
	v := *p
	v.Comparisons = slices.Clone(p.Comparisons)
	for i := range v.Comparisons {
		v.Comparisons[i].Runs = nil
	}
	return &v
}

// curesGone are the cures of a report that another does not name any more, with
// what they were to save. Lines move with an edit; the function and the cure stay.
func curesGone(then, now *schema.Report) []predicted {
	if then == nil {
		return nil
	}
	type key struct{ function, code string }
	left := map[key]bool{}
	for _, f := range now.Findings {
		left[key{f.Site.Function, f.Remedy.Code}] = true
	}
	var gone []predicted
	for _, f := range then.Findings {
		if s := f.Prediction; !left[key{f.Site.Function, f.Remedy.Code}] && s.CPUShare != nil {
			gone = append(gone, predicted{
				Code: f.Remedy.Code, Function: f.Site.Function, File: f.Site.File, Line: f.Site.Line,
				CPU: s.CPUShare, Bytes: s.BytesPerOp, Objects: s.ObjectsPerOp,
			})
		}
	}
	return gone
}
