package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
)

var internString = Cure{
	Code:  "intern-string",
	Title: "keep one copy of equal strings",
	Why: "Texts that are read repeatedly, such as names, labels and keys, fill the heap with equal copies. One " +
		"copy for each value, " +
		"from a map or from package unique, makes the live heap smaller and comparison cheaper.",
	Before:  "r.Label = string(field)",
	After:   "r.Label = labels.intern(field) // map[string]string; a lookup by string(field) does not allocate",
	Safety:  Review,
	Needs:   "the lifetime of the strings",
	WhenNot: "When the values are mostly different: the map then holds them all without benefit.",
	match: func(c *candidate, p *allocated) (proposal, bool) {
		if p.Kind != finding.KindConversion || p.Via != "" || c.short() || c.Finding.Lifetime.Class == finding.LifetimeUnknown {
			return proposal{}, false
		}
		pr := all(even, fmt.Sprintf("keep one copy of equal strings where %s is stored, if its values repeat", p.text()), "the strings have a long lifetime")
		// How often they repeat is not known: half of them is the guess that the
		// interval has to cover.
		pr.Objects, pr.Bytes, pr.Live = 0.5, 0.5, 0.5
		return pr, true
	},
}
