package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

var presizeMap = Cure{
	Code:  "presize-map",
	Title: "make the map with its final size",
	Why: "A map that fills up grows by making larger tables and moving every entry. With a size hint the tables are made once, " +
		"large enough.",
	Before:  "seen := make(map[string]int)\nfor _, w := range words {\n\tseen[w]++\n}",
	After:   "seen := make(map[string]int, len(words))\nfor _, w := range words {\n\tseen[w]++\n}",
	Safety:  Safe,
	Needs:   "block sizes of the site; for the size, the source",
	WhenNot: "When the hint is far above what is usually stored: the tables then waste memory.",
	match:   matchPresizeMap,
}

func matchPresizeMap(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "presize-map"); ok {
		return pr, true
	}
	if p.Kind != finding.KindMapGrowth || p.Callee != "" {
		return proposal{}, false
	}
	why := c.amount(p) + " are tables that the map makes as it grows"
	d := p.dest()
	if d == nil {
		return proposal{}, false
	}
	var fit float64
	var text string
	switch {
	case d.Local && (d.Made == source.MadeEmpty || d.Made == source.MadeNil) && d.Count != "":
		fit, text = 1, fmt.Sprintf("make `%s`%s with size %s", d.Name, atLine(d), d.Count)
	case d.Local && d.Made == source.MadeEmpty:
		fit, text = good, fmt.Sprintf("make `%s`%s with the size it usually reaches", d.Name, atLine(d))
	default:
		return proposal{}, false // nothing in sight says how large it becomes
	}
	// The largest table of each map stays; a map with one small table is created with it, so
	// a size saves nothing.
	r := regrowthOf(c.Finding.Allocation.Sizes)
	objects, bytes := r.waste()
	if objects <= 0.02 {
		return proposal{}, false
	}
	return proposal{Text: text, Why: why, Fit: fit, Objects: objects, Bytes: bytes}, true
}
