package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/finding"
)

var goroutineStacks = Cure{
	Code:  "goroutine-stacks",
	Title: "start fewer goroutines, or keep their stacks",
	Why: "A goroutine's descriptor and its first stack come from the heap when none is free. A stack that " +
		"outgrows its size is copied to one twice as large. " +
		"The collector scans all stacks. Long-lived workers pay for their stacks once.",
	Before:  "for _, j := range jobs {\n\tgo handle(j)\n}",
	After:   "for range workers {\n\tgo func() {\n\t\tfor j := range queue {\n\t\t\thandle(j)\n\t\t}\n\t}()\n}",
	Safety:  Advice,
	Needs:   "the kind of allocation; for growth, the stacks bucket of the decomposition",
	WhenNot: "When goroutines wait most of their life: their number is then part of the design.",
	match: func(c *candidate, p *allocated) (proposal, bool) {
		if p.Kind != finding.KindGoroutine {
			return proposal{}, false
		}
		return all(likely, "let long-lived goroutines take the work from a channel instead of starting one each time", c.amount(p)), true
	},
}
