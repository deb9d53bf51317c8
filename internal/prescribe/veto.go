package prescribe

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/fate"
	"github.com/heaptrim/heaptrim/internal/prescribe/holder"
	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/regrowth"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
	"github.com/heaptrim/heaptrim/internal/prescribe/way"
)

// veto rules cures out by a fact about the object's life, where the answer is yes.
type veto struct {
	codes  []string // nil: all
	fact   fact
	reason string // completes "no cure of the catalogue fits: "
}

// Groups of cures that take the same liberty with an object.
var (
	// Its memory is used again while somebody may still hold it.
	recycling = []string{"pool-object", "pool-buffer", "reuse-buffer"}
	pooling   = []string{"pool-object", "pool-buffer"}
)

// vetoes lists what rules a cure out whatever else speaks for it. The first that holds
// gives the reason.
var vetoes = []veto{
	{nil, runsOnce, "it is made once, by a sync.Once of the package: only the first operation makes it"},
	{recycling, resultEnd, "the memory is part of the result, so it cannot be used again"},
	{recycling, sharedEnd, "the memory goes to another goroutine, so it cannot be used again here"},
	{pooling, kept, "the memory stays in use after the call, so it cannot be used again"},
	{[]string{"reuse-buffer"}, storedElsewhere, "the memory stays in use after the call, so it cannot be used again"},
	{[]string{"reuse-buffer"}, ownerDies, "what holds the array is made anew each time, so it cannot be kept there"},
	{[]string{"pool-object", "pool-buffer", "reuse-buffer", "keep-on-stack"}, needlessCopy, "the copy is only read, so it is not needed at all"},
	{recycling, unseenOwner, "the code does not show where the memory is last used"},
	{[]string{"pool-object"}, isWritten("of a key of its own", idiom.Place.KeyOfItsOwn), "the key is computed for it, so the next one needs another"},
	{pooling, ofPool, "the objects are already those of a pool"},
	{pooling, pooled, "the objects are already those of a pool"},
	{pooling, smallForPool, "the objects are so small that a pool would cost as much as it saves"},
	{pooling, diesElsewhere, "the memory is handed to a caller, so only that could put it back"},
	{[]string{"keep-on-stack"}, leavesForGood, "the value outlives every function of this code that sees it"},
	{[]string{"keep-on-stack"}, partOfAnother, "the value is handed out as part of another one"},
	{[]string{"keep-on-stack"}, published, "an exported function returns it, and its type has methods on pointers"},
	{[]string{"keep-on-stack"}, ofGivenType, "an interface or a function type says what it returns"},
	{[]string{"keep-on-stack"}, isWritten("a node", idiom.Place.Links), "others of its type point to it"},
	{[]string{"keep-on-stack"}, uncopied, "values of its type must not be copied"},
	{[]string{"keep-on-stack"}, hooked, "a function that nothing sets may get it, so it has to be on the heap"},
	{[]string{"keep-on-stack"}, usedAsInterface, "the value is used as an interface, which needs it on the heap"},
	{[]string{"keep-on-stack", "hoist-closure"}, spawned, "goroutines of the function use it, so it has to be on the heap"},
	{[]string{"keep-on-stack"}, sliceResult, "the array behind a slice that is returned cannot stay on the stack"},
	{[]string{"batch-arena"}, spawned, "goroutines of the function use it, each for its own time"},
	{[]string{"batch-arena"}, unseen, "the code does not show which of them die together"},
	{[]string{"batch-arena"}, global, "a variable of the package keeps them, for as long as the program runs"},
	{[]string{"batch-arena"}, coldOnly, "a rare branch alone makes it escape, so it need not be on the heap"},
	{[]string{"avoid-conversion"}, copyIsKept, "the text is kept or returned, so one copy has to be made"},
	{[]string{"avoid-conversion", "reuse-buffer"}, carriedLine, "the loop still has the line when it reads the next one"},
	{[]string{"avoid-conversion", "unbox-interface"}, formatVaries, "the format is no constant, so what it does with its arguments is not known"},
	{[]string{"cache-compiled"}, filled, "the template may have functions of this call, which the next one must not get"},
	{[]string{"avoid-conversion"}, unread, "the source was not read, so what becomes of the text is not known"},
	{[]string{"avoid-conversion"}, isWritten("one value through an interface", idiom.Place.ReadsOne), "the reader or writer is an interface, so bytes for one number would be on the heap, too"},
	{[]string{"avoid-conversion"}, publicText, "an exported function returns the text, so its type is part of the contract"},
	{[]string{"skip-work"}, resultIsKept, "the result is kept or returned"},
	{[]string{"unbox-interface"}, boxIsKept, "the interface value is kept or returned, so it needs memory of its own"},
	{[]string{"hoist-closure"}, unseen, "the code does not show who calls the function value"},
	{[]string{"hoist-closure"}, leavesOwnCode, "the function value is handed out, and has to hold values of its own"},
}

// Facts of the life of an object.
var (
	dies      = test("dies in a frame", ends(finding.EndFrame))
	runsOnce  = test("made once", func(c *candidate, _ *allocated) bool { return way.RunsOnce(c.source, c.Finding.Stacks) })
	resultEnd = test("part of the result", ends(finding.EndResult))
	sharedEnd = test("handed to another goroutine", ends(finding.EndShared))
	kept      = test("kept", isStored)
	global    = test("kept by something of the whole program", func(_ *candidate, p *allocated) bool {
		return p.Life.End == finding.EndStored && !p.Life.Receiver && !p.Life.Given
	})
	storedElsewhere = test("kept by another than the receiver", isStoredElsewhere)
	ownerDies       = test("in a field of what dies", isOwnerDies)
	unseenOwner     = test("last used where nobody sees", isUnseenOwner)
	pooled          = test("from a pool", func(_ *candidate, p *allocated) bool { return p.Life.Maker.Pooled })
	smallForPool    = test("too small for a pool", isSmallForPool)
	diesElsewhere   = test("dies in a caller", isDiesElsewhere)
	leavesForGood   = test("leaves for good", isLeavesForGood)
	partOfAnother   = test("part of another value", isPartOfAnother)
	published       = test("returned by an exported function, with methods on pointers", func(c *candidate, p *allocated) bool {
		return p.Life.Frame > 0 && p.Expr != nil && p.Expr.Identity && way.Exported(c.Finding.Site.Function)
	})
	ofGivenType     = test("returned by a function with a given type", func(c *candidate, p *allocated) bool { return p.Kind == finding.KindNew && c.given })
	uncopied        = test("of a type that is not copied", func(_ *candidate, p *allocated) bool { return p.Expr != nil && p.Line.Unique(p.Expr) })
	usedAsInterface = test("used as an interface", isUsedAsInterface)
	needlessCopy    = test("a copy that is only read", func(c *candidate, p *allocated) bool {
		made := p.Expr != nil && (copied.ask(c, p) == finding.Yes || p.place().MadeCopy()+p.place().Guarded() != "")
		return made && p.Life.OnlyRead == finding.Yes && p.Life.End == finding.EndFrame
	})
	spawned     = test("used by goroutines of the function", func(_ *candidate, p *allocated) bool { return p.Life.Passed.Spawned })
	sliceResult = test("behind a slice that is returned", isSliceResult)
	copyIsKept  = test("a copy that is kept", isCopyIsKept)
	// unread is a library's text of a line whose source was not read: it may be returned.
	unread = test("a text of unread source", func(_ *candidate, p *allocated) bool {
		return p.Line == nil && p.isResult() && p.Library.KeepsResult() && p.Life.End == finding.EndUnknown
	})
	// carriedLine is a line that was read, and that memory of the reader does not hold for long enough.
	carriedLine = test("a line that is kept for the next turn", func(_ *candidate, p *allocated) bool {
		return p.Life.Passed.Carried && (strings.HasPrefix(p.Callee, "bufio.") || strings.HasPrefix(p.Callee, "bytes.(*Buffer).Read"))
	})
	formatVaries  = test("a format that varies", func(_ *candidate, p *allocated) bool { return p.Expr != nil && waste.FormatVaries(p.Line, p.Expr) })
	filled        = test("a template that is filled elsewhere", func(_ *candidate, p *allocated) bool { return p.Expr != nil && waste.Filled(p.Expr) })
	publicText    = test("a text that an exported function returns", isPublicText)
	resultIsKept  = test("a result that is kept", isResultIsKept)
	boxIsKept     = test("a box that is kept", isBoxIsKept)
	unseen        = test("a life that nobody sees", isUnseen)
	leavesOwnCode = test("handed out", isLeavesOwnCode)
)

// ends holds for one end of a life.
func ends(e finding.End) func(*candidate, *allocated) bool {
	return func(_ *candidate, p *allocated) bool { return p.Life.End == e }
}

// isStored reports whether the memory is kept. Two things are not, wherever they are held: what a
// library object makes for itself with its first use and again in each operation, for then
// it is made in each; and large memory that is handed to a caller's own container, and that
// the heap profiles show to be dead soon.
func isStored(c *candidate, p *allocated) bool {
	soon := c.Finding.Lifetime.Class == finding.LifetimeShort
	switch {
	case p.Life.End != finding.EndStored:
		return false
	case p.ownMemory():
		return !soon && c.perOp(p) < 0.5
	}
	return !(p.Life.Given && soon && c.blockSize() >= bigObject)
}

// isStoredElsewhere reports whether the memory is kept, other than by the receiver, who can
// use it again.
func isStoredElsewhere(_ *candidate, p *allocated) bool {
	return p.Life.End == finding.EndStored && !p.Life.Receiver
}

// isOwnerDies holds for arrays and maps that grow in a field of something that dies with them.
func isOwnerDies(_ *candidate, p *allocated) bool {
	d := p.dest()
	return (p.Kind == finding.KindGrowth || p.Kind == finding.KindMapGrowth) && d != nil && d.Field && p.Life.End == finding.EndFrame
}

// isLeavesOwnCode reports whether the user's code hands the object out for good.
func isLeavesOwnCode(_ *candidate, p *allocated) bool {
	switch p.Life.End {
	case finding.EndResult, finding.EndStored, finding.EndShared:
		return true
	}
	return false
}

// isLeavesForGood is leavesOwnCode, unless only a branch without cost hands the object out, or the
// function that makes it returns it to other code, as it is, which a value of its type would serve too.
func isLeavesForGood(c *candidate, p *allocated) bool {
	straight := p.Life.End == finding.EndResult && p.Life.Frame == 0 && p.Life.Field == "" &&
		p.Expr != nil && !p.Expr.Identity
	return isLeavesOwnCode(c, p) && !straight && c.coldEscape() == 0
}

// isPartOfAnother holds for values that leave the function that makes them in a field of something.
func isPartOfAnother(c *candidate, p *allocated) bool {
	return p.Life.Frame > 0 && p.Life.Field != "" && c.coldEscape() == 0
}

func isUsedAsInterface(c *candidate, p *allocated) bool {
	return p.Kind == finding.KindNew && p.Life.Passed.Box.Made && c.coldEscape() == 0
}

// isUnseen reports whether it is not known where the expression's own memory is last used. What
// a library call allocates inside is judged by the call's entry.
func isUnseen(_ *candidate, p *allocated) bool {
	return p.Life.End == finding.EndUnknown && p.Via == ""
}

// isUnseenOwner is unseen, and holds as well for the memory of a bytes.Buffer whose last use is not
// known: Bytes hands it out.
func isUnseenOwner(c *candidate, p *allocated) bool {
	return isUnseen(c, p) || p.Life.End == finding.EndUnknown && strings.HasPrefix(p.Via, "bytes.(*Buffer).")
}

// leastBlocks is the number of blocks of one object from which its pool pays whatever their size:
// one Get and Put then stand against so many calls of malloc.
const leastBlocks = 3

// isSmallForPool holds for small objects, other than those whose making is dear in itself, or that
// hold several others.
func isSmallForPool(c *candidate, p *allocated) bool {
	blocks, bytes := c.graphSize()
	return bytes < leastPooled && blocks < leastBlocks && (p.Library == nil || !slices.Contains(pooling, p.Library.Code))
}

// isDiesElsewhere holds for objects of a helper that its caller uses: a pool belongs where they
// die. Large ones are worth handing back.
func isDiesElsewhere(c *candidate, p *allocated) bool {
	return p.Via == "" && p.Life.End == finding.EndFrame && p.Life.Frame > 0 && c.blockSize() < bigObject
}

func isSliceResult(c *candidate, p *allocated) bool {
	return p.Expr != nil && p.Expr.Elem > 0 && p.Kind != finding.KindMake && (p.Life.Frame > 0 || fate.Edge(c.Finding, "return"))
}

// isCopyIsKept reports whether new text, or a new slice of it, is itself handed out. Of the
// line's own conversions it must be known that it is not.
func isCopyIsKept(c *candidate, p *allocated) bool {
	if p.Library != nil && p.Library.Stays == library.Handed {
		return false
	}
	switch p.Kind {
	case finding.KindConversion, finding.KindConcat:
		return isLeavesOwnCode(c, p) || isUnseen(c, p)
	case finding.KindString, finding.KindMake, finding.KindGrowth:
		made := p.Library != nil && (p.Library.KeepsResult() || // wherever it is made
			p.Kind != finding.KindGrowth && (p.Expr == nil || p.Line.Gives(p.Expr)))
		return isLeavesOwnCode(c, p) || made && p.Life.End == finding.EndUnknown
	}
	return false
}

// isPublicText holds for text that an exported function returns as it is made. What is converted back, or
// is a copy that nobody needs, is not needed there either.
func isPublicText(c *candidate, p *allocated) bool {
	if p.Expr == nil || p.Life.Frame == 0 || p.Expr.Use.Kind != source.UseReturned || p.Line.Back(p.Expr) ||
		!p.isResult() && !p.Library.KeepsResult() {
		return false
	}
	if p.Kind == finding.KindMake {
		return true // a slice of the parts, which is what its callers ask for
	}
	name := c.Finding.Site.Function
	return ast.IsExported(name[strings.LastIndexByte(name, '.')+1:])
}

// isResultIsKept reports whether a library call's result is handed out, so the call is needed.
func isResultIsKept(c *candidate, p *allocated) bool { return p.Via != "" && isLeavesOwnCode(c, p) }

// isBoxIsKept holds for boxes that are handed out, and for those of which neither the callee nor
// the use is known.
func isBoxIsKept(c *candidate, p *allocated) bool {
	switch p.Kind {
	case finding.KindBoxing, finding.KindReflect:
		return isLeavesOwnCode(c, p) || p.Callee == "" && isUnseen(c, p)
	}
	return false
}

// vetoed gives the reason why a rule's cure is ruled out; "" where nothing rules it out.
func (c *candidate) vetoed(r *rule, p *allocated) string {
	for _, v := range vetoes {
		ignored := slices.ContainsFunc(r.despite, func(f fact) bool { return f.name == v.fact.name })
		if (v.codes == nil || slices.Contains(v.codes, r.cure)) && !ignored && v.fact.ask(c, p) == finding.Yes {
			return v.reason
		}
	}
	return ""
}

// live follows the parts of the object along their stacks. Without a tracer nothing is known.
func (c *candidate) live(t *life.Tracer) {
	for _, p := range c.Parts {
		p.Life = c.lifeOf(t, p)
		if p.Life.Maker.At.Line == 0 && p.ownMemory() && c.source != nil && (p.Expr == nil || p.Line.Dynamic(p.Expr)) {
			p.Life.Maker.At = holder.Maker(c.source, c.heaviestWay(p), p.Callee)
		}
		if via := life.Plain(p.Via); via != "" && p.Callee != via && p.Life.Maker.At.Line == 0 {
			p.Callee, p.Library = via, library.Find(via, "") // a compressor that the library makes for itself
		}
	}
	for _, p := range c.Parts {
		if _, ok := c.reset(p); t != nil && (ok || c.ender(p) != "" || p.Kind == finding.KindMapGrowth || p.Kind == finding.KindGrowth) {
			if c.lent == nil {
				c.lent = map[string]bool{}
			}
			c.lent[p.owner()] = t.Lends(p.owner())
		}
	}
	if site := c.Finding.Site; t != nil && fate.Edge(c.Finding, "return") {
		c.given = t.Given(c.source.Function(site.File, site.Line, site.Function))
	}
	if get := way.Getters(c.Finding.Stacks, c.yours); t != nil && len(get) > 0 {
		c.taken = t.Trace(life.Birth{Kind: finding.KindNew, Via: way.PoolGet}, get).End
	}
	if t != nil {
		c.maker, c.made = t.OfConstants(c.heaviestWay(c.Parts[0]))
	}
	if len(c.Parts) < 2 || !slices.ContainsFunc(c.Parts, (*allocated).grows) {
		return
	}
	// What one variable holds has one life: the first decisive end that a part has.
	for _, e := range life.Decisive {
		if i := slices.IndexFunc(c.Parts, func(p *allocated) bool { return p.Life.End == e }); i >= 0 {
			for _, p := range c.Parts {
				if made := p.Life.Made; p.Life.End != e {
					p.Life = c.Parts[i].Life
					p.Life.Made = made
				}
			}
			return
		}
	}
}

// lifeOf follows a part along its stacks. Without a tracer nothing is known.
func (c *candidate) lifeOf(t *life.Tracer, p *allocated) finding.Life {
	if t == nil {
		return finding.Life{Unknown: "code that was not type-checked"}
	}
	b := life.Birth{Kind: p.Kind, Via: p.Via, Sizes: regrowth.Common(p.Sizes)}
	if b.Via != "" {
		b.Via = p.Callee
	}
	var ways []life.Way
	for _, st := range p.stacks(p.bytes()) {
		if own := c.ownFrames(p.of, st); len(own) > 0 {
			ways = append(ways, life.Way{Frames: own, Share: st.Share})
		}
	}
	if len(ways) == 0 {
		return finding.Life{}
	}
	l := t.Joined(b, ways)
	if l.Maker.Whole && p.Library != nil && p.Library.Stays == library.Values && p.Library.Leaf == "" {
		l.Maker = finding.Maker{} // what it decodes into
	}
	l.At = c.session.Place(evidence.Frame{File: l.At.File, Line: l.At.Line, Function: l.At.Function})
	return l
}

// ownFrames are the user's frames of a stack without a break, from the line of a finding outwards.
func (c *candidate) ownFrames(of *finding.Finding, st finding.Stack) []evidence.Frame {
	return way.Own(st, of.Site, c.yours)
}

// yours reports whether a frame is of the user's code.
func (c *candidate) yours(f evidence.Frame) bool { return c.session.Owner(f) == "yours" }

// coldEscape is the line that alone makes the value escape, where that is in a branch without recorded cost; 0 for none.
func (c *candidate) coldEscape() int {
	if len(c.Parts) == 0 {
		return 0
	}
	return fate.ColdLine(c.diagnosis, c.Finding, c.Line, c.Parts[0].Life.Ways.Lines)
}
