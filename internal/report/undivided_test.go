package report

import (
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// A line's cost with all that it calls has no columns: zeros would say that
// they were measured.
func TestColumnsOfUndividedCost(t *testing.T) {
	all := known{cpu: true, churn: true, retention: true}
	whole := newCost(finding.Cost{CPU: span95(1.5, 0.4)}, all)
	if whole.CPUShare == nil || whole.Malloc != nil || whole.Churn != nil || whole.Retention != nil ||
		whole.Intervals.Zeroing != nil {
		t.Errorf("undivided: got %+v, want a share of CPU without columns", whole)
	}
	site := newCost(finding.Cost{CPU: span95(1.5, 0.4), Churn: span95(1.5, 0.4)}, all)
	if site.Malloc == nil || *site.Malloc != 0 || site.Churn == nil {
		t.Errorf("divided: got %+v, want a measured zero for malloc", site)
	}
	if none := newCost(finding.Cost{}, all); none.Malloc == nil || *none.Malloc != 0 {
		t.Errorf("a site that costs nothing: got %+v, want measured zeros", none)
	}
}
