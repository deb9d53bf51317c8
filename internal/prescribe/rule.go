package prescribe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/regrowth"
	"github.com/heaptrim/heaptrim/internal/prescribe/since"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
)

// rule is one row of the table: where a cure applies to a part of an object, and what it takes away.
type rule struct {
	name  string // stable: the table of hit rates has it
	cure  string // code
	needs []fact // each has the answer yes
	not   []fact // each has the answer no
	// despite has the facts of vetoes that do not count, because needs say more.
	despite []fact
	at      place
	takes   takes
	adds    addedCost // CPU time for each object
	text    string    // with words in braces, which facts of needs give
	// tell is the text of a rule without one, and less the parts of the objects and bytes that it takes, for lessOf.
	tell func(p *allocated) string
	less func(p *allocated) (objects, bytes float64)
	// call is the frame of the call on the way to the part that the rule is about, and the text, in place of text and tell.
	call func(c *candidate, p *allocated) (evidence.Frame, string)
}

// place is where a rule's change goes: stack, size and conversion cures act where the memory is made,
// others where it is last used.
type place int8

const (
	atBirth    place = iota
	atDeath          // the frame in which the object dies
	atMaker          // where a caller makes what grows, or a call the object
	atCaller         // the call that hands in what grows
	atGet            // the call of a pool's Get
	atOwner          // where the struct is made whose field holds it
	atDeclared       // the declaration of the function that the compiler does not see through
	atReset          // the line that drops what a field grew to
	atMade           // the call of the function that makes it of constants
	atTyped          // the function that makes it of a type alone
	atCall           // the call that the rule is about
)

// takes is what a cure takes of a part.
type takes int8

const (
	everything  takes = iota
	reused            // everything but the memory that stays, to be used again
	firstSizes        // the blocks that were outgrown
	firstCopy         // the copy that is outgrown at once
	oneByOne          // all objects but the blocks that hold them
	padding           // what a smaller size class saves
	repeats           // copies of equal texts: half of them is the guess that the interval has to cover
	levels            // what all levels of a recursion but the first make
	allButOne         // what all statements in a row but one make
	ownBlocks         // the blocks of their own, and what points to them: the values move into the slice
	lessOf            // what the rule itself says
	allButFirst       // what is made again where it is there already
	betterCall        // what the library's better call does not make
)

// pointerSize is that of 64-bit machines, whose recordings most are.
const pointerSize = 8

// words fills in the words in braces of a text.
var words = map[string]func(c *candidate, p *allocated) string{
	"expr":       func(_ *candidate, p *allocated) string { return p.text() },
	"callee":     func(_ *candidate, p *allocated) string { return p.callee() },
	"api":        func(c *candidate, _ *allocated) string { return way.Public(c.Finding.Site.Function) },
	"taker":      func(_ *candidate, p *allocated) string { return life.ShortName(p.Expr.Use.Callee) },
	"better":     func(_ *candidate, p *allocated) string { return p.better() },
	"ender":      func(c *candidate, p *allocated) string { return c.ender(p) },
	"loop":       func(_ *candidate, p *allocated) string { return fmt.Sprint(p.Expr.Loops[0].First) },
	"writer":     func(_ *candidate, p *allocated) string { return "`" + p.Line.Writer(p.Expr) + "`" },
	"use":        func(_ *candidate, p *allocated) string { return "`" + p.Expr.Use.Name + "`" },
	"bodyless":   func(c *candidate, _ *allocated) string { d, _ := c.bodyless(); return life.ShortName(d.Name) },
	"original":   func(_ *candidate, p *allocated) string { return "`" + p.Line.Copied(p.Expr) + "`" },
	"spliced":    func(_ *candidate, p *allocated) string { return "`" + p.Line.Spliced(p.Expr) + "`" },
	"container":  func(_ *candidate, p *allocated) string { return "`" + p.Life.Passed.Box.Field + "`" },
	"boxtype":    func(_ *candidate, p *allocated) string { return "`" + p.Life.Passed.Box.Type + "`" },
	"computed":   func(c *candidate, p *allocated) string { return "`" + c.computed(p) + "`" },
	"settled":    func(_ *candidate, p *allocated) string { return p.Life.Passed.Box.Settled.Name },
	"byvalue":    func(c *candidate, p *allocated) string { return "`" + holder.ByValue(c.source, p.owner()) + "`" },
	"keytype":    func(c *candidate, p *allocated) string { return c.boxedKey(p) },
	"result":     func(_ *candidate, p *allocated) string { return life.ShortName(p.of.Site.Function) },
	"dropper":    func(c *candidate, p *allocated) string { return life.ShortName(c.dropper(p)) },
	"constantly": func(c *candidate, _ *allocated) string { return life.ShortName(c.maker) },
	"pool": func(c *candidate, _ *allocated) string {
		return way.NeverPut(c.source, way.Getters(c.Finding.Stacks, c.yours))
	},
	"typefunc": func(c *candidate, p *allocated) string { return life.ShortName(c.ofType(p).Function) },
	"key":      func(c *candidate, p *allocated) string { return c.keyText(p) },
	"row":      func(_ *candidate, p *allocated) string { return fmt.Sprint(waste.InARow(p.Expr)) },
	"asked":    func(c *candidate, p *allocated) string { return c.askedAbove(p) },
	"form": func(c *candidate, p *allocated) string {
		return waste.OtherForm(p.Expr, toOurs.ask(c, p) == finding.Yes)
	},
	"looked":   func(_ *candidate, p *allocated) string { return p.Expr.Use.Little() },
	"constant": func(c *candidate, _ *allocated) string { return "`" + c.Line.ConvertedConstant().Text + "`" },
	"wasted": func(c *candidate, p *allocated) string {
		return waste.Text(c.diagnosis, c.Line, p.Expr, c.Finding.Site.File)
	},
	"type":   func(_ *candidate, p *allocated) string { return p.Expr.Type },
	"packed": func(c *candidate, p *allocated) string { return c.packs(p).String() },
	"size":   func(c *candidate, _ *allocated) string { return c.blockSize().String() },
	"spread": func(c *candidate, _ *allocated) string { return regrowth.Spread(c.Finding.Allocation.Sizes) },
	"here": func(c *candidate, p *allocated) string {
		if p.Expr == nil || p.Via != "" {
			return ""
		}
		return regrowth.Reached(c.Finding.Allocation.Sizes, p.Expr.Elem)
	},
	"var": func(_ *candidate, p *allocated) string { return "`" + p.dest().Name + "`" },
	"arena": func(_ *candidate, p *allocated) string {
		return when(p.Life.End == finding.EndFrame, ", or in an arena (rt/arena) that is reset when the operation is done")
	},
	"nil": func(_ *candidate, p *allocated) string {
		return when(p.Expr != nil && p.place().StaysNil(), " where the first is added, as it stays nil without one,")
	},
	// A named result has no line in which it is made.
	"made": func(_ *candidate, p *allocated) string {
		return when(p.dest().MadeLine > 0, fmt.Sprintf(" (line %d)", p.dest().MadeLine))
	},
	"count": func(_ *candidate, p *allocated) string { count, _ := p.filled(); return count },
	"variant": func(c *candidate, p *allocated) string { // its callers in other modules stay as they are
		return when(publicMaker.ask(c, p) == finding.Yes, "an unexported variant of ")
	},
	"maker": func(c *candidate, p *allocated) string { // that the frame in which it dies calls
		if own := c.heaviestWay(p); p.Life.Frame > 0 && p.Life.Frame <= len(own) {
			return life.ShortName(own[p.Life.Frame-1].Function)
		}
		return life.ShortName(p.of.Site.Function)
	},
	"death": func(_ *candidate, p *allocated) string { return life.ShortName(p.Life.Function) },
	"reset": func(c *candidate, p *allocated) string { r, _ := c.reset(p); return "`" + r.Field + "`" },
	"owned": func(_ *candidate, p *allocated) string {
		if p.Life.Maker.Name == "" {
			return "it"
		}
		return "`" + p.Life.Maker.Name + "`"
	},
	"hook":  func(_ *candidate, p *allocated) string { return "`" + p.Life.Ways.Hook + "`" },
	"cold":  func(c *candidate, _ *allocated) string { return fmt.Sprint(c.coldEscape()) },
	"owner": func(c *candidate, _ *allocated) string { return "`" + fate.Holder(c.Finding) + "`" },
}

var wordPattern = regexp.MustCompile(`\{(\w+)\}`)

// fill puts words in the place of those in braces.
func (c *candidate) fill(text string, p *allocated) string {
	return wordPattern.ReplaceAllStringFunc(text, func(w string) string { return words[strings.Trim(w, "{}")](c, p) })
}

// said is a rule's text; false if the module's Go lacks what it names.
func (c *candidate) said(r *rule, p *allocated) (string, bool) {
	text, directive := r.text, c.Line.GoDirective()
	if r.tell != nil {
		text = r.tell(p)
	}
	if r.call != nil {
		_, text = r.call(c, p)
	}
	ok := since.Allows(directive, text) && (!strings.Contains(text, "{better}") || since.Allows(directive, p.Library.Better)) &&
		(text != "{key}" || since.Allows(directive, c.keyText(p)))
	return since.Wording(directive, c.fill(text, p)), ok
}

// when is a text where a condition holds.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// applies reports whether a rule fits a part: no answer of another sort, and none missing.
func (c *candidate) applies(r *rule, p *allocated) bool {
	for _, f := range r.needs {
		if f.ask(c, p) != finding.Yes {
			return false
		}
	}
	for _, f := range r.not {
		if f.ask(c, p) != finding.No {
			return false
		}
	}
	return true
}

// proposed is what a rule proposes for a part that it applies to; false where it would take nothing.
func (c *candidate) proposed(r *rule, p *allocated) (proposal, bool) {
	text, ok := c.said(r, p)
	if !ok {
		return proposal{}, false
	}
	pr := all(cures.HitRate(r.cure, r.name), text, c.evidence(r, p))
	pr.Rule, pr.Cost = r.name, r.adds
	c.put(&pr, r, p)
	switch r.takes {
	case reused:
		pr.Live = 0
	case firstSizes, firstCopy:
		if r.takes == firstSizes || !p.place().IsOutgrownCopy() {
			pr.Objects, pr.Bytes = c.grown().Waste()
		}
		pr.Live = 0
		return pr, pr.Objects > leastOutgrown
	case oneByOne:
		c.slabs(&pr, p)
	case padding:
		pr.Objects, pr.Bytes = 0, 1-float64(c.packs(p))/float64(c.blockSize())
		pr.Live = pr.Bytes
	case repeats:
		pr.Objects, pr.Bytes, pr.Live = 0.5, 0.5, 0.5
	case levels:
		deeper := way.Deeper(p.stacks(p.bytes()), p.of.Site.Function)
		pr.Objects, pr.Bytes, pr.Live = deeper, deeper, deeper
		return pr, deeper > leastOutgrown
	case allButOne:
		more := 1 - 1/float64(waste.InARow(p.Expr))
		pr.Objects, pr.Bytes, pr.Live = more, more, more
	case allButFirst:
		if _, here := p.place().Again(); here > 1 {
			n := float64(here)
			pr.Objects, pr.Bytes, pr.Live = 1-1/n, 1-1/n, 1-1/n
		}
	case ownBlocks:
		block := float64(c.blockSize())
		pr.Bytes = min(max((block-float64(p.Expr.Size)+pointerSize)/block, 0), 1)
		pr.Live = pr.Bytes
	case lessOf:
		pr.Objects, pr.Bytes = r.less(p)
		pr.Live = pr.Bytes
	case betterCall:
		if p.isResult() && p.keptResult() && p.Library.KeepsResult() {
			pr.Objects, pr.Bytes, pr.Live = 0, 0, 0
			return pr, false
		}
	}
	return pr, true
}

// put says where the change of a rule goes.
func (c *candidate) put(pr *proposal, r *rule, p *allocated) {
	switch r.at {
	case atDeath:
		pr.At = p.Life.At
	case atGet:
		if at := way.Getters(c.Finding.Stacks, c.yours); len(at) > 0 {
			pr.At = c.session.Place(at[0])
		}
	case atCaller:
		pr.At = c.session.Place(p.above.frame)
	case atMaker:
		if p.above != nil && p.above.dest.MadeLine > 0 {
			at := p.above.frame
			at.Line = p.above.dest.MadeLine
			pr.At = c.session.Place(at)
		}
		if m := p.Life.Maker.At; m.Line > 0 {
			pr.At = c.session.Place(evidence.Frame{File: m.File, Line: m.Line, Function: m.Function})
		}
		// A library's New makes it, or a part of it.
		if i := slices.IndexFunc(c.Parts, func(q *allocated) bool { return q.Library != nil && strings.Contains(q.Via, ".New") }); i >= 0 {
			m := c.Parts[i]
			pr.At, pr.Text = m.of.Site, c.fill(r.text, m)
		}
	case atDeclared:
		d, _ := c.bodyless()
		pr.At = c.session.Place(evidence.Frame{Function: d.Name, File: d.File, Line: d.Line})
	case atOwner:
		pr.At = c.ownerMade(p).Site
	case atReset:
		reset, _ := c.reset(p)
		pr.At = c.session.Place(evidence.Frame{Function: reset.Function, File: reset.File, Line: reset.Line})
	case atMade:
		pr.At = c.session.Place(c.made)
	case atTyped:
		pr.At = c.session.Place(c.ofType(p))
	case atCall:
		at, _ := r.call(c, p)
		pr.At = c.session.Place(at)
	}
}

// evidence is the reason that stands beside a text.
func (c *candidate) evidence(r *rule, p *allocated) string {
	switch {
	case r.takes == firstSizes:
		objects, _ := c.grown().Waste()
		return fmt.Sprintf("%.0f %% of the blocks that were made here were outgrown again", 100*objects)
	case r.takes == padding:
		return fmt.Sprintf("padding takes the rest of %s", c.blockSize())
	case p.Via != "":
		return c.amount(p) + " come from " + life.ShortName(p.Via)
	case fate.Text(c.Finding) != "":
		return fate.Text(c.Finding)
	}
	return c.amount(p)
}

// slabs counts what stays of objects that are made in blocks of a few KiB.
func (c *candidate) slabs(pr *proposal, p *allocated) {
	stay := min(1, max(1, float64(c.blockSize()))/float64(bigObject))
	if n := c.perOp(p); n > 0 {
		stay = min(1, max(stay, 1/n))
	}
	pr.Objects, pr.Bytes = 1-stay, 0
	if p.Kind == finding.KindGrowth {
		outgrown, _ := c.grown().Waste()
		pr.Objects -= outgrown
	}
	if p.Kind == finding.KindNew && c.Finding.Lifetime.Class == finding.LifetimeShort && p.Life.End == finding.EndFrame {
		// An arena that is reset reuses its blocks: lab/libraries/arena.
		pr.Objects, pr.Bytes = 1-stay*0.1, 0.9
	}
}
