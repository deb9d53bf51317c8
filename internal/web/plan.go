package web

import "github.com/heaptrim/heaptrim/internal/schema"

type (
	// planView is what tune forecasts, beside what the recording that is compared
	// with has measured.
	planView struct {
		schema.Tune
		Base *planBase `json:"base,omitempty"` // nil: no other recording, or it bears no plan
		// HeapOnly: the resident set is not known, and memory is that of the heap.
		HeapOnly bool `json:"heap_only"`
	}

	planBase struct {
		Recorded schema.TuneSetting  `json:"recorded_setting"`
		Measured schema.TuneMeasured `json:"measured"`
	}
)

// newPlan shows a plan, and what the base of another has measured under its own
// setting; nil without a plan.
func newPlan(plan, base *schema.Tune) *planView {
	if plan == nil {
		return nil
	}
	v := &planView{Tune: *plan, HeapOnly: plan.Measured.RSS <= 0}
	if base != nil {
		v.Base = &planBase{base.Recorded, base.Measured}
	}
	return v
}
