package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

var batchArena = Cure{
	Code:  "batch-arena",
	Title: "allocate objects of one lifetime together",
	Why: "Many small objects that are made together and die together can share a few large blocks: a slab of elements, or an arena that is reset as a whole. " +
		"malloc is then a bump of an offset, and the collector sees one object instead of many.",
	Before:  "for i := range rows {\n\tnodes = append(nodes, &Node{Row: i})\n}",
	After:   "slab := make([]Node, len(rows))\nfor i := range rows {\n\tslab[i] = Node{Row: i}\n\tnodes = append(nodes, &slab[i])\n}",
	Safety:  Review,
	Needs:   "objects per operation, the source's loops, the lifetime",
	WhenNot: "When one object outlives the others: it keeps the whole block alive.",
	match:   matchBatchArena,
}

// manyObjects is the number of objects in an operation from which one block for all pays.
const manyObjects = 8

func matchBatchArena(c *candidate, p *allocated) (proposal, bool) {
	if p.Via != "" || p.Expr == nil || len(p.Expr.Loops) == 0 && !c.recursive() {
		return proposal{}, false // one by one for callers: nobody here knows how many there will be
	}
	if c.perOp(p) < manyObjects && c.Finding.Cost.ObjectsPerOp.Value > 0 || c.blockSize() > unit.Bytes(largeObject) {
		return proposal{}, false
	}
	why := fmt.Sprintf("%s, %s each, made by one operation", c.amount(p), c.blockSize())
	// Blocks of a few KiB hold about this many objects each.
	stay := min(1, max(1, float64(c.blockSize()))/float64(bigObject))
	if n := c.perOp(p); n > 0 {
		stay = min(1, max(stay, 1/n))
	}
	pr := proposal{Why: why, Objects: 1 - stay, Bytes: 0}
	switch p.Kind {
	case finding.KindNew:
		pr.Fit, pr.Text = good, fmt.Sprintf("make %s in slabs, or in an arena (rt/arena) that is reset when the operation is done", p.text())
		if c.Finding.Lifetime.Class == finding.LifetimeShort {
			// An arena that is reset reuses its blocks: lab/libraries/arena.
			pr.Objects, pr.Bytes = 1-stay*0.1, 0.9
		}
	case finding.KindMake, finding.KindVariadic:
		pr.Fit, pr.Text = strong, fmt.Sprintf("carve %s out of one allocation for the whole operation", p.text())
	default:
		return proposal{}, false
	}
	if c.perOp(p) == 0 {
		pr.Fit /= 2
	}
	return pr, true
}

// recursive reports whether the site's function is on the heaviest stack more
// than once, as in a parser of nested things.
func (c *candidate) recursive() bool {
	if len(c.Finding.Stacks) == 0 {
		return false
	}
	n := 0
	for _, f := range c.Finding.Stacks[0].Frames {
		if plainName(f.Function) == plainName(c.Finding.Site.Function) {
			n++
		}
	}
	return n > 1
}
