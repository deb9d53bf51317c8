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

// written makes a fact of a question about how the part's expression is written.
func written(name string, ask func(idiom.Place) bool, gives ...string) fact {
	return test(name, func(_ *candidate, p *allocated) bool { return p.Expr != nil && ask(p.place()) }, gives...)
}

// worded makes a fact of a question whose answer is a text; "" is no.
func worded(name string, ask func(idiom.Place) string, gives ...string) fact {
	return written(name, func(p idiom.Place) bool { return ask(p) != "" }, gives...)
}

// Facts about ways of writing that allocate more than another.
var (
	copyGrows = test("appended to a copy without room", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindGrowth && p.Expr != nil && p.place().Grows()
	})
	cached        = written("kept by its input already", idiom.Place.Cached)
	replacedAgain = written("replacements one after the other", func(p idiom.Place) bool { return len(p.Replacements().Calls) > 1 }, "times")
	onlyErrorsAs  = written("the target of errors.As", idiom.Place.OnlyErrorsAs)
	againHere     = written("made again", func(p idiom.Place) bool { calls, _ := p.Again(); return len(calls) > 1 })
	cutAgain      = worded("a part of a text put together again", idiom.Place.CutAgain, "text")
	parsedAgain   = worded("taken apart again", idiom.Place.ParsedAgain, "parser")
	encodedAgain  = written("encoded to be decoded", idiom.Place.EncodedAgain)
	chained       = written("contexts one around the other", func(p idiom.Place) bool { return p.Contexts() > 1 }, "times")
	forFunctions  = worded("handed to function values", idiom.Place.ForFunctions, "optiontype")
	frontOfField  = onLine("put in front of a field", func(l *source.Line, e *source.Expr) bool { return l.Prepends(e) && e.Use.Field }, "use")
	otherPackage  = worded("asked in another form", idiom.Place.OtherPackage, "asker")
	writtenWhole  = written("read to be written", idiom.Place.WrittenOn)
	boxedKey      = test("boxed as a key", func(c *candidate, p *allocated) bool { return c.boxedKey(p) != "" }, "keytype")
	loose         = worded("decoded into a map", idiom.Place.Loose, "map")
	fewRunes      = written("few runes of a text", idiom.Place.FewRunes)
	swapped       = worded("read in the next turn only", idiom.Place.Swapped, "next")
	ownNumber     = worded("takes the place of an argument", idiom.Place.OwnNumber, "number")
	asKey         = test("made to be a key", func(c *candidate, p *allocated) bool { return c.keyText(p) != "" }, "key")
	queued        = test("cut in front elsewhere", func(c *candidate, p *allocated) bool {
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
	if n := max(len(p.place().Replacements().Calls), p.place().Contexts()); n > 1 {
		return n
	}
	_, here := p.place().Again()
	return here
}
