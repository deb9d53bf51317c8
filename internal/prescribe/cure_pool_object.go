package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
)

var poolObject = Cure{
	Code:  "pool-object",
	Title: "keep the objects in a pool",
	Why: "Objects that live for one request and are expensive to make – large, slow to initialise, or allocating " +
		"themselves – can pass from one request " +
		"to the next. Objects in the pool are not garbage, so cycles become rarer.",
	Before:  "zw := gzip.NewWriter(w)\ndefer zw.Close()",
	After:   "zw := writers.Get().(*gzip.Writer)\ndefer writers.Put(zw)\nzw.Reset(w)\ndefer zw.Close()",
	Safety:  Review,
	Needs:   "type, size and lifetime of the objects",
	WhenNot: "For tiny objects a pool costs as much as malloc; objects that other code may keep must not go back.",
	match:   matchPoolObject,
}

func matchPoolObject(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "pool-object"); ok && c.short() {
		pr.Cost, pr.Live = poolPair, 0
		return pr, true
	}
	if !c.short() || p.Via != "" {
		return proposal{}, false
	}
	size := c.blockSize()
	why := fmt.Sprintf("%s, %s each", c.amount(p), size)
	switch p.Kind {
	case finding.KindNew, finding.KindMake, finding.KindMap, finding.KindChan:
	default:
		return proposal{}, false
	}
	switch {
	case size >= bigObject:
		return c.pooled(strong, fmt.Sprintf("keep %s in a pool: an object of %s is worth it", p.text(), size), why)
	case size < tinyObject && c.Finding.Allocation.Pointers == finding.No:
		return proposal{}, false
	case p.Kind == finding.KindNew && !c.edge("return"):
		return c.pooled(possible, fmt.Sprintf("keep %s in a pool, or inside its owner, and use it again", p.text()), why)
	}
	return c.pooled(weak, fmt.Sprintf("keep %s in a pool and use it again", p.text()), why)
}
