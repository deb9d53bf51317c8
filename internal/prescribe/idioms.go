package prescribe

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/mapkey"
	"github.com/heaptrim/heaptrim/internal/prescribe/once"
	"github.com/heaptrim/heaptrim/internal/prescribe/rank"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
	"github.com/heaptrim/heaptrim/internal/prescribe/written"
)

// isWritten makes a fact of a question about how the part's expression is written.
func isWritten(name string, ask func(idiom.Place) bool, gives ...string) fact {
	return test(name, func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Line != nil && ask(p.place()) }, gives...)
}

// worded makes a fact of a question whose answer is a text; "" is no.
func worded(name string, ask func(idiom.Place) string, gives ...string) fact {
	return isWritten(name, func(p idiom.Place) bool { return ask(p) != "" }, gives...)
}

// Facts about ways of writing that allocate more than another.
var (
	copyGrows = test("appended to a copy without room", func(_ *candidate, p *allocated) bool {
		return p.Kind == finding.KindGrowth && p.Expr != nil && p.place().Grows()
	})
	boxedBefore = test("boxed before", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Box.Before })
	settled     = test("read from a field that is settled", func(c *candidate, p *allocated) bool {
		s := p.Life.Passed.Box.Settled
		return s.Name != "" && !rank.Runs(c.diagnosis, c.Finding.Run, s.By)
	}, "settled")
	computed  = test("computed of settled fields", func(c *candidate, p *allocated) bool { return c.computed(p) != "" }, "computed")
	askedOnce = test("filled to be asked once", func(c *candidate, p *allocated) bool {
		return c.source != nil && way.AskedOnce(c.source, c.heaviestWay(p))
	})
	constHeader = test("a constant header", func(c *candidate, p *allocated) bool {
		return p.Expr != nil && once.HeaderOfConstants(way.Function(c.source, p.of.Site), p.Expr.Node())
	})
	byValue = test("held by value", func(c *candidate, p *allocated) bool {
		return c.source != nil && holder.ByValue(c.source, p.owner()) != ""
	}, "byvalue")
	madeFull     = isWritten("appended to a slice made full", func(p idiom.Place) bool { grows, _ := p.FullGrows(); return grows != nil })
	cached       = isWritten("kept by its input already", idiom.Place.Cached)
	againHere    = isWritten("made again", func(p idiom.Place) bool { calls, _ := p.Again(); return len(calls) > 1 })
	cutAgain     = worded("a part of a text put together again", idiom.Place.CutAgain)
	frontOfField = onLine("put in front of a field", func(l *source.Line, e *source.Expr) bool { return l.Prepends(e) && e.Use.Field }, "use")
	boxedKey     = test("boxed as a key", func(c *candidate, p *allocated) bool { return c.boxedKey(p) != "" }, "keytype")
	asKey        = test("made to be a key", func(c *candidate, p *allocated) bool { return c.keyText(p) != "" }, "key")
	// byType is made of a type alone, in each operation.
	byConstants = test("made of constants by a function", func(c *candidate, _ *allocated) bool { return c.maker != "" }, "constantly")
	byType      = test("made of a type alone", func(c *candidate, p *allocated) bool { return c.perOp(p) >= leastMade && c.ofType(p).Function != "" }, "typefunc")
	// unfilled is a map of which the recording has no entry: what grows would be a part of the object.
	unfilled = test("a map that nothing is put into", func(c *candidate, p *allocated) bool {
		return p.Kind == finding.KindMap && c.source != nil && len(c.Parts) == 1 && p.Expr != nil && p.place().IsBareMap() && holder.Fills(c.source, p.owner()) && !holder.Leaves(c.source, p.owner())
	})
	// outgrownAbove is a slice that a caller appends to when it gets it.
	outgrownAbove = test("outgrown by its caller", func(c *candidate, p *allocated) bool {
		return c.source != nil && p.Expr != nil && p.place().FullResult() && way.Outgrown(c.source, c.heaviestWay(p))
	}, "result")
	captured = isWritten("in a function literal, or closed", idiom.Place.Captured)
	inTurns  = test("in the place of an operand in the next turn", func(c *candidate, p *allocated) bool { return c.takesTurns(p) }, "result")
	queued   = test("cut in front elsewhere", func(c *candidate, p *allocated) bool {
		return c.source != nil && holder.CutInFront(c.source, p.owner())
	})
	record = test("a record that dies before the next", func(_ *candidate, p *allocated) bool {
		return p.Callee == "encoding/csv.(*Reader).Read" && p.Life.End == finding.EndFrame && !p.Life.Passed.Carried
	})
	sum   = test("a sum", func(_ *candidate, p *allocated) bool { return strings.HasSuffix(p.Callee, ".Sum") })
	timed = test("a timer", func(_ *candidate, p *allocated) bool { return strings.HasPrefix(p.Callee, "time.") })
)

// place is the part's expression, for package idiom.
func (p *allocated) place() idiom.Place { return waste.Place(p.Line, p.Expr) }

func (c *candidate) keyText(p *allocated) string {
	if c.source == nil || p.Expr == nil {
		return ""
	}
	return mapkey.Text(c.source.Functions(), way.Function(c.source, p.of.Site), p.Expr.Node())
}

// computed is a settled field that the part is computed of; "" for none.
func (c *candidate) computed(p *allocated) string {
	if c.source == nil || p.Expr == nil {
		return ""
	}
	field, by := once.Computed(c.source.Functions(), way.Function(c.source, p.of.Site), p.Expr.Node())
	if rank.Runs(c.diagnosis, c.Finding.Run, by) {
		return ""
	}
	return field
}

// boxedKey says which type the keys of a map could have that the part's line boxes.
func (c *candidate) boxedKey(p *allocated) string {
	if c.source == nil {
		return ""
	}
	return mapkey.Boxed(c.source.Functions(), way.Function(c.source, p.of.Site), func(at token.Pos) bool { return c.source.LineOf(at) == p.of.Site.Line })
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

// ofType is the frame of the function that makes the part of a reflect.Type alone; zero for none.
func (c *candidate) ofType(p *allocated) evidence.Frame {
	return way.OfType(c.source, c.heaviestWay(p))
}

// needs has the facts that package written names.
var needs = map[written.Need]fact{
	written.Own: own, written.Called: called, written.Small: small, written.Several: several, written.Many: many, written.Dies: dies, written.Passing: passing,
	written.OnlyRead: onlyRead, written.DiesHere: diesHere, written.Big: big, written.Spared: spared, written.Begun: begun,
}

// keptAnyway has the facts of vetoes that do not count where a cure fits although the memory is kept.
var keptAnyway = []fact{usedAsInterface, leavesForGood, copyIsKept, publicText, unread, resultIsKept, boxIsKept, resultEnd,
	storedElsewhere, unseenOwner, unseen, leavesOwnCode}

// waysOfWriting are the rules of package written.
func waysOfWriting() (rules []rule) {
	for _, w := range written.Rules {
		r := rule{name: w.Name, cure: w.Cure, needs: []fact{isWritten(w.Name, func(p idiom.Place) bool { return w.Tell(p) != "" })}}
		r.tell = func(p *allocated) string { return w.Tell(p.place()) }
		if w.Less != nil {
			r.takes, r.less = lessOf, func(p *allocated) (objects, bytes float64) { return w.Takes(p.place()) }
		}
		if w.Values {
			r.takes = ownBlocks
		}
		rules = append(rules, r.of(w.Kinds, w.Needs, w.Kept, w.InPlace))
	}
	for _, w := range written.CallRules {
		r := rule{name: w.Name, cure: w.Cure, at: atCall, despite: []fact{ownerDies}}
		r.call = func(c *candidate, p *allocated) (evidence.Frame, string) {
			return way.Call(c.source, c.heaviestWay(p), w.Tell)
		}
		r.needs = []fact{test(w.Name, func(c *candidate, p *allocated) bool { _, text := r.call(c, p); return text != "" })}
		rules = append(rules, r.of(w.Kinds, w.Needs, w.Kept, w.InPlace))
	}
	return rules
}

// of is a rule of package written with what else it needs.
func (r rule) of(kinds []finding.Kind, others []written.Need, kept, inPlace bool) rule {
	if kinds != nil {
		r.needs = append(r.needs, is(kinds...))
	}
	for _, n := range others {
		r.needs = append(r.needs, needs[n])
	}
	if kept {
		r.despite = append(r.despite, keptAnyway...)
	}
	if inPlace {
		r.despite = append(r.despite, uncopied, published, partOfAnother)
	}
	return r
}
