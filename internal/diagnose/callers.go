package diagnose

import (
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// A caller is named from this share of its callee's cost, and only so many are.
const (
	leastCaller = 0.1
	mostCallers = 3
)

// addCallers names the callers of each finding that cause most of its cost, where there are
// several.
func addCallers(findings []finding.Finding, all []merged, own *stack.Ownership, module stack.Root) {
	for i := range findings {
		m := all[findings[i].ID-1]
		var callers []finding.Caller
		for _, c := range m.sites[m.heaviest()].site.Callers(own) {
			if c.Share >= leastCaller && len(callers) < mostCallers {
				callers = append(callers, finding.Caller{Site: module.Site(c.Key), Share: c.Share})
			}
		}
		if len(callers) > 1 {
			findings[i].Allocation.Callers = callers
		}
	}
}
