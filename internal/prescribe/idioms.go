package prescribe

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// Facts about ways of writing that allocate more than another.
var (
	copyGrows = test("appended to a copy without room", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindGrowth && p.Expr != nil && idiom.CopyGrows(p.Line, p.Expr)
	})
	replacedAgain = test("replacements one after the other", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && idiom.Replacements(p.Line, p.Expr) > 1
	}, "times")
	onlyErrorsAs = test("the target of errors.As", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && idiom.OnlyErrorsAs(p.Line, p.Expr)
	})
	againHere = test("made again", func(_ *candidate, p *allocated) bool {
		if p.Expr == nil {
			return false
		}
		_, again := idiom.Again(p.Line, p.Expr)
		return again
	})
	fewRunes  = test("few runes of a text", func(_ *candidate, p *allocated) bool { return p.Expr != nil && idiom.FewRunes(p.Line, p.Expr) })
	swapped   = test("read in the next turn only", func(_ *candidate, p *allocated) bool { return p.Expr != nil && idiom.Swapped(p.Line, p.Expr) != "" }, "next")
	ownNumber = test("takes the place of an argument", func(_ *candidate, p *allocated) bool { return p.Expr != nil && idiom.OwnNumber(p.Line, p.Expr) != "" }, "number")
	asKey     = test("made to be a key", func(c *candidate, p *allocated) bool { return c.keyText(p) != "" }, "key")
	queued    = test("cut in front elsewhere", func(c *candidate, p *allocated) bool {
		return c.source != nil && holder.CutInFront(c.source, p.owner())
	})
	record = test("a record that dies before the next", func(_ *candidate, p *allocated) bool {
		return p.Callee == "encoding/csv.(*Reader).Read" && p.Life.End == finding.EndFrame && !p.Life.Passed.Carried
	})
	timed = test("a timer", func(_ *candidate, p *allocated) bool { return strings.HasPrefix(p.Callee, "time.") })
)

func (c *candidate) keyText(p *allocated) string {
	if c.source == nil || p.Expr == nil {
		return ""
	}
	site := p.of.Site
	return idiom.KeyText(c.source, c.source.Function(site.File, site.Line, site.Function), p.Expr)
}

// times is how often the work of an idiom is done where once would do.
func (p *allocated) times() int {
	if n := idiom.Replacements(p.Line, p.Expr); n > 1 {
		return n
	}
	n, _ := idiom.Again(p.Line, p.Expr)
	return n
}
