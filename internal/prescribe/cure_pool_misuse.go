package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/finding"
)

var poolMisuse = Cure{
	Code:  "pool-misuse",
	Title: "make the pool work",
	Why: "A pool whose New allocates on most calls saves nothing: objects are not put back, they are boxed on " +
		"Put, or collections empty the pool faster than it is used. " +
		"sync.Pool stores only pointers without boxing, and drops objects that stayed unused for two collections.",
	Before:  "b := pool.Get().([]byte)\ndefer pool.Put(b) // boxes the slice header: 24 B",
	After:   "b := pool.Get().(*[]byte)\ndefer pool.Put(b)",
	Safety:  Review,
	Needs:   "stacks through sync.Pool",
	WhenNot: "While the program warms up every Get calls New.",
	match:   matchPoolMisuse,
}

func matchPoolMisuse(c *candidate, p *allocated) (proposal, bool) {
	if p.Library != nil && p.Library.Function == "sync.(*Pool).Put" || p.Kind == finding.KindBoxing && p.Callee == "sync.(*Pool).Put" {
		return all(1, "put a pointer into the pool: a slice or a struct is boxed on each Put", c.amount(p)+" are headers that Put boxes"), true
	}
	if !c.below("sync.(*Pool).Get") {
		return proposal{}, false
	}
	return all(good, "see that every Get has its Put on all ways out: the pool's New makes a new object nearly every time", c.amount(p)+" come from the pool's New"), true
}

// below reports whether the heaviest stack reaches the site through a
// function: the site is a callback of it.
func (c *candidate) below(function string) bool {
	if len(c.Finding.Stacks) == 0 {
		return false
	}
	at := false
	for _, f := range c.Finding.Stacks[0].Frames {
		if plainName(f.Function) == plainName(c.Finding.Site.Function) && f.Line == c.Finding.Site.Line {
			at = true
			continue
		}
		if at {
			return plainName(f.Function) == function
		}
	}
	return false
}
