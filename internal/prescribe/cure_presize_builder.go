package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

var presizeBuilder = Cure{
	Code:    "presize-builder",
	Title:   "grow the builder or buffer once to its final size",
	Why:     "A strings.Builder or bytes.Buffer grows as append does: each time it is full it allocates twice the size and copies.",
	Before:  "var b strings.Builder\nfor _, p := range parts {\n\tb.WriteString(p)\n}",
	After:   "var b strings.Builder\nb.Grow(total(parts))\nfor _, p := range parts {\n\tb.WriteString(p)\n}",
	Safety:  Safe,
	Needs:   "block sizes of the site",
	WhenNot: "When most texts are short: the first block that the builder allocates is enough.",
	match:   matchPresizeBuilder,
}

func matchPresizeBuilder(c *candidate, p *allocated) (proposal, bool) {
	switch {
	case p.Library != nil && p.Library.Code == "presize-builder":
		pr, ok := c.presized(likely, p.instead(), c.amount(p)+" are blocks that "+shortName(p.Callee)+" makes as the text grows")
		if !ok {
			// One block for each text: only the first Write can be sized, which saves
			// nothing.
			return proposal{}, false
		}
		return pr, true
	case p.Kind == finding.KindConcat && p.Expr != nil && len(p.Expr.Loops) > 0 && p.Expr.Use.Kind == source.UseAssigned && !p.Expr.Use.Field && grows(p.Expr):
		return all(evident, fmt.Sprintf("build `%s` in a strings.Builder: each + copies all of it again", p.Expr.Use.Name), c.amount(p)+" are strings that the next + throws away"), true
	}
	return proposal{}, false
}
