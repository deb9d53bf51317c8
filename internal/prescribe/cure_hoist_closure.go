package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
)

var hoistClosure = Cure{
	Code:  "hoist-closure",
	Title: "make the function value once, or not at all",
	Why: "A function literal that captures variables and outlives the line is an object on the heap. Variables " +
		"that it captures by reference move to the heap too. " +
		"A method value x.M is a closure as well.",
	Before:  "for _, j := range jobs {\n\trun(func() { j.Do(ctx) })\n}",
	After:   "for _, j := range jobs {\n\trun(ctx, j) // takes the job itself\n}",
	Safety:  Review,
	Needs:   "the kind of allocation",
	WhenNot: "When each closure has to hold values of its own.",
	match: func(c *candidate, p *allocated) (proposal, bool) {
		if p.Kind != finding.KindClosure || p.Via != "" {
			return proposal{}, false
		}
		text := fmt.Sprintf("make %s once, outside of the hot path, and pass what it captures as parameters", p.text())
		if c.edge("return") {
			// The receiver calls it later and cannot pass parameters.
			text = fmt.Sprintf("make %s once for all that capture the same, or return a value with a method", p.text())
		}
		return all(evident, text, c.escape()), true
	},
}
