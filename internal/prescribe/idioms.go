package prescribe

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
)

// Facts about ways of writing that allocate more than another.
var (
	copyGrows = test("appended to a copy without room", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindGrowth && p.Expr != nil && p.place().Grows()
	})
	cached        = test("kept by its input already", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().Cached() })
	replacedAgain = test("replacements one after the other", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && len(p.place().Replacements().Calls) > 1
	}, "times")
	onlyErrorsAs = test("the target of errors.As", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.place().OnlyErrorsAs()
	})
	againHere = test("made again", func(_ *candidate, p *allocated) bool {
		if p.Expr == nil {
			return false
		}
		calls, _ := p.place().Again()
		return len(calls) > 1
	})
	cutAgain    = test("a part of a text put together again", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().CutAgain() != "" }, "text")
	parsedAgain = test("taken apart again", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.place().ParsedAgain() != ""
	}, "parser")
	encodedAgain = test("encoded to be decoded", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().EncodedAgain() })
	frontOfField = test("put in front of a field", func(_ *candidate, p *allocated) bool {
		return p.Expr != nil && p.Line.Prepends(p.Expr) && p.Expr.Use.Field
	}, "use")
	otherPackage = test("asked in another form", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().OtherPackage() != "" }, "asker")
	writtenWhole = test("read to be written", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().WrittenOn() })
	boxedKey     = test("boxed as a key", func(c *candidate, p *allocated) bool { return c.boxedKey(p) != "" }, "keytype")
	loose        = test("decoded into a map", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().Loose() != "" }, "map")
	fewRunes     = test("few runes of a text", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().FewRunes() })
	swapped      = test("read in the next turn only", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().Swapped() != "" }, "next")
	ownNumber    = test("takes the place of an argument", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.place().OwnNumber() != "" }, "number")
	asKey        = test("made to be a key", func(c *candidate, p *allocated) bool { return c.keyText(p) != "" }, "key")
	queued       = test("cut in front elsewhere", func(c *candidate, p *allocated) bool {
		return c.source != nil && holder.CutInFront(c.source, p.owner())
	})
	record = test("a record that dies before the next", func(_ *candidate, p *allocated) bool {
		return p.Callee == "encoding/csv.(*Reader).Read" && p.Life.End == finding.EndFrame && !p.Life.Passed.Carried
	})
	timed = test("a timer", func(_ *candidate, p *allocated) bool { return strings.HasPrefix(p.Callee, "time.") })
)

// place is the part's expression, for package idiom.
func (p *allocated) place() idiom.Place { return waste.Place(p.Line, p.Expr) }

func (c *candidate) keyText(p *allocated) string {
	if c.source == nil || p.Expr == nil {
		return ""
	}
	site := p.of.Site
	return idiom.KeyText(c.source.Functions(), c.source.Function(site.File, site.Line, site.Function), p.Expr.Node())
}

// boxedKey says which type the keys of a map could have that the part's line boxes.
func (c *candidate) boxedKey(p *allocated) string {
	if c.source == nil {
		return ""
	}
	site := p.of.Site
	return idiom.BoxedKey(c.source.Functions(), c.source.Function(site.File, site.Line, site.Function), func(at token.Pos) bool {
		return c.source.LineOf(at) == site.Line
	})
}

// filled is the count of the elements that a loop appends to the part's slice or puts into its map, and whether each
// turn adds so many; empty where no count is in sight.
func (p *allocated) filled() (count string, exact bool) {
	d := p.dest()
	if d == nil {
		return "", false
	}
	if d.Count == "" || p.above != nil || p.Kind != finding.KindGrowth || p.Expr == nil || p.Expr.Kind != source.Append {
		return d.Count, d.Exact
	}
	a, ok := p.place().Added(d.Name, d.CountAt)
	switch {
	case !ok:
		return "", false
	case a.Each == 0:
		return d.Count, d.Exact
	}
	count = d.Count
	if a.Each > 1 {
		count = fmt.Sprintf("%d*%s", a.Each, count)
	}
	if a.Once > 0 {
		count = fmt.Sprintf("%s+%d", count, a.Once)
	}
	return count, a.Exact
}

// times is how often the work of an idiom is done where once would do.
func (p *allocated) times() int {
	if n := len(p.place().Replacements().Calls); n > 1 {
		return n
	}
	_, here := p.place().Again()
	return here
}
