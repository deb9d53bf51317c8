package prescribe

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

var presizeSlice = Cure{
	Code:  "presize-slice",
	Title: "make the slice with its final capacity",
	Why: "append doubles a slice that is full: it allocates a new array and copies the old one. A slice of n elements that begins empty " +
		"is allocated about log₂ n times and costs twice its final size in garbage.",
	Before: "var names []string\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	After:  "names := make([]string, 0, len(users))\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	Safety: Safe,
	Needs:  "block sizes of the site; for the capacity, the source",
	Not:    "When the bound is far above what is usually appended: the memory would be reserved for nothing.",
	match:  matchPresizeSlice,
}

func matchPresizeSlice(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "presize-slice"); ok {
		return pr, true
	}
	if p.Kind != diagnose.KindGrowth || p.Callee != "" {
		return Proposal{}, false
	}
	objects, _ := regrowthOf(c.Finding.Sizes).waste()
	why := fmt.Sprintf("%.0f %% of the arrays that append made here were outgrown again", 100*objects)
	d := p.dest()
	switch {
	case d == nil:
		return c.presized(0.5, "give the slice its final capacity when it is made", why)
	case d.Made == source.MadeSized || d.Reset:
		return c.presized(0.3, fmt.Sprintf("make `%s` with a larger capacity", d.Name), why)
	case d.Field || d.Param || d.Made == source.MadeElse:
		return c.presized(0.5, fmt.Sprintf("give `%s` its final capacity where it is made", d.Name), why)
	case d.Count != "":
		pr, ok := c.presized(0.9, fmt.Sprintf("make `%s`%s with capacity %s", d.Name, atLine(d), d.Count), why)
		if d.Exact {
			pr.Fit = 1
		}
		return pr, ok
	}
	return c.presized(0.6, fmt.Sprintf("make `%s`%s with the capacity it usually reaches", d.Name, atLine(d)), why)
}

// atLine says where a variable is made; nothing for a named result, which is
// made nowhere.
func atLine(d *source.Dest) string {
	if d.MadeLine == 0 {
		return ""
	}
	return fmt.Sprintf(" (line %d)", d.MadeLine)
}

// dest is where the part's elements go; nil when not known.
func (p *Part) dest() *source.Dest {
	if p.Expr == nil {
		return nil
	}
	return p.Expr.Into
}

var presizeMap = Cure{
	Code:  "presize-map",
	Title: "make the map with its final size",
	Why: "A map that fills up grows by making larger tables and moving every entry. With a size hint the tables are made once, " +
		"large enough.",
	Before: "seen := make(map[string]int)\nfor _, w := range words {\n\tseen[w]++\n}",
	After:  "seen := make(map[string]int, len(words))\nfor _, w := range words {\n\tseen[w]++\n}",
	Safety: Safe,
	Needs:  "block sizes of the site; for the size, the source",
	Not:    "When the hint is far above what is usually stored: tables are reserved for nothing.",
	match:  matchPresizeMap,
}

func matchPresizeMap(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "presize-map"); ok {
		return pr, true
	}
	if p.Kind != diagnose.KindMapGrowth || p.Callee != "" {
		return Proposal{}, false
	}
	why := c.amount(p) + " are tables that the map makes as it grows"
	d := p.dest()
	fit, text := 0.55, "give the map its size when it is made"
	switch {
	case d == nil:
	case d.Local && (d.Made == source.MadeEmpty || d.Made == source.MadeNil) && d.Count != "":
		fit, text = 1, fmt.Sprintf("make `%s`%s with size %s", d.Name, atLine(d), d.Count)
	case d.Local && d.Made == source.MadeEmpty:
		fit, text = 0.8, fmt.Sprintf("make `%s`%s with the size it usually reaches", d.Name, atLine(d))
	default:
		text = fmt.Sprintf("give `%s` its size where it is made", d.Name)
	}
	// The largest table of each map stays; a map of one small table is made with
	// it and saves nothing.
	r := regrowthOf(c.Finding.Sizes)
	objects, bytes := r.waste()
	if objects <= 0.02 {
		return Proposal{}, false
	}
	return Proposal{Text: text, Why: why, Fit: fit, Objects: objects, Bytes: bytes}, true
}

var presizeBuilder = Cure{
	Code:   "presize-builder",
	Title:  "grow the builder or buffer once to its final size",
	Why:    "A strings.Builder or bytes.Buffer grows as append does: each time it is full it allocates twice the size and copies.",
	Before: "var b strings.Builder\nfor _, p := range parts {\n\tb.WriteString(p)\n}",
	After:  "var b strings.Builder\nb.Grow(total(parts))\nfor _, p := range parts {\n\tb.WriteString(p)\n}",
	Safety: Safe,
	Needs:  "block sizes of the site",
	Not:    "When most texts are short: the first block that the builder makes by itself is enough.",
	match:  matchPresizeBuilder,
}

func matchPresizeBuilder(c *Case, p *Part) (Proposal, bool) {
	switch {
	case p.Library != nil && p.Library.code == "presize-builder":
		pr, ok := c.presized(0.7, p.instead(), c.amount(p)+" are blocks that "+shortName(p.Callee)+" makes as the text grows")
		if !ok {
			// One block a text: only the first Write can be sized, and nothing is won.
			return Proposal{}, false
		}
		return pr, true
	case p.Kind == diagnose.KindConcat && p.Expr != nil && len(p.Expr.Loops) > 0 && p.Expr.Use.Kind == source.UseAssigned && !p.Expr.Use.Field && grows(p.Expr):
		return all(0.9, fmt.Sprintf("build `%s` in a strings.Builder: each + copies all of it again", p.Expr.Use.Name), c.amount(p)+" are strings that the next + throws away"), true
	}
	return Proposal{}, false
}
