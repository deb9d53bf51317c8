package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

var presizeSlice = Cure{
	Code:  "presize-slice",
	Title: "make the slice with its final capacity",
	Why: "append doubles a slice that is full: it allocates a new array and copies the old one. A slice of n elements that begins empty " +
		"is allocated about log₂ n times and costs twice its final size in garbage.",
	Before:  "var names []string\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	After:   "names := make([]string, 0, len(users))\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	Safety:  Safe,
	Needs:   "block sizes of the site; for the capacity, the source",
	WhenNot: "When the bound is far above what is usually appended: the slice then wastes memory.",
	match:   matchPresizeSlice,
}

func matchPresizeSlice(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "presize-slice"); ok {
		return pr, true
	}
	if p.Kind != finding.KindGrowth || p.Callee != "" {
		return proposal{}, false
	}
	objects, _ := regrowthOf(c.Finding.Allocation.Sizes).waste()
	why := fmt.Sprintf("%.0f %% of the arrays that append made here were outgrown again", 100*objects)
	d := p.dest()
	switch {
	case d == nil, d.Made == source.MadeSized, d.Reset, d.Field, d.Param, d.Made == source.MadeElse:
		return proposal{}, false // nothing in sight says how long it becomes
	case d.Count != "":
		pr, ok := c.presized(evident, fmt.Sprintf("make `%s`%s with capacity %s", d.Name, atLine(d), d.Count), why)
		if d.Exact {
			pr.Fit = 1
		}
		return pr, ok
	}
	return c.presized(possible, fmt.Sprintf("make `%s`%s with the capacity it usually reaches", d.Name, atLine(d)), why)
}

// atLine says where a variable is made; nothing for a named result, which has no such line.
func atLine(d *source.Dest) string {
	if d.MadeLine == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", d.MadeLine)
}

// dest is the destination of the part's elements; nil when not known.
func (p *allocated) dest() *source.Dest {
	if p.Expr == nil {
		return nil
	}
	return p.Expr.Into
}
