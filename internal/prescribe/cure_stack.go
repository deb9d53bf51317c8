package prescribe

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// largeObject is where a value is too large to be copied about: returning it by
// value costs more than the pointer saves.
const largeObject = 512

var keepOnStack = Cure{
	Code:  "keep-on-stack",
	Title: "keep the value on the stack",
	Why: "A value whose address does not outlive the function needs no heap: no malloc, no zeroing, nothing for the collector to mark. " +
		"Returning a value instead of a pointer, filling one that the caller owns, or keeping the escaping use out of the hot path is often all it takes.",
	Before: "func newPoint(x, y int) *Point {\n\treturn &Point{x, y}\n}",
	After:  "func newPoint(x, y int) Point {\n\treturn Point{x, y}\n}",
	Safety: Review,
	Needs:  "the compiler's escape reason and flow",
	Not:    "When the value is shared, compared by address, or large.",
	match:  matchKeepOnStack,
}

func matchKeepOnStack(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "keep-on-stack"); ok {
		return pr, true
	}
	if p.Callee != "" {
		return Proposal{}, false
	}
	switch p.Kind {
	case diagnose.KindNew, diagnose.KindVariadic:
	case diagnose.KindMake:
		if p.Expr != nil && !p.Expr.Consts {
			return Proposal{}, false // what has no constant size is on the heap, but for a few bytes
		}
	default:
		return Proposal{}, false
	}
	why := c.escape()
	tooLarge := strings.Contains(why, "too large for the stack")
	small := c.blockSize() <= largeObject
	if line := c.coldEscape(); line > 0 && !tooLarge {
		text := fmt.Sprintf("copy %s into a new variable on the way to line %d: only that line makes it escape, and the recording shows no cost there", p.text(), line)
		return all(0.95, text, why), true
	}
	switch {
	case tooLarge:
		return Proposal{}, false
	case c.moved() && small:
		return all(0.75, fmt.Sprintf("keep %s on the stack: hand it on by value, or keep its address out of what outlives the function", p.text()), why), true
	case p.Kind == diagnose.KindNew && c.edge("return") && small:
		fit := 0.8
		switch {
		case c.perOp(p) >= 4*manyObjects || c.recursive():
			fit = 0.5 // so many of them are a structure that is kept, not results that are passed up
		case p.Expr != nil && p.Expr.Use.Kind == source.UseReturned:
			fit = 0.85
		}
		return all(fit, fmt.Sprintf("return %s by value, or fill one that the caller owns", p.text()), why), true
	case p.Kind == diagnose.KindVariadic:
		return all(0.5, fmt.Sprintf("call %s without a variadic slice", p.callee()), why), true
	case p.Kind == diagnose.KindNew && small && c.short() && !c.kept():
		return all(0.4, fmt.Sprintf("keep %s on the stack", p.text()), why), true
	case p.Kind == diagnose.KindMake && c.edge("return") && small && c.short():
		return all(0.35, fmt.Sprintf("let the caller hand in the memory for %s", p.text()), why), true
	}
	return Proposal{}, false
}

// coldEscape is the line of the same function that makes the value escape,
// where that line is in a branch that the recording shows no cost of; 0 when
// there is none or it cannot be told.
func (c *Case) coldEscape() int {
	e := c.Finding.Escape
	if e == nil || c.Line == nil || len(c.diagnosis.Lines) == 0 {
		return 0
	}
	cold := 0
	for _, f := range e.Flow {
		for _, edge := range f.Edges {
			switch {
			case edge.Line == c.Finding.Site.Line, !strings.HasSuffix(edge.File, baseOf(c.Finding.Site.File)):
				continue
			case edge.Line < c.Line.Func.First || edge.Line > c.Line.Func.Last:
				return 0
			case heaviestOf(c.diagnosis, c.Finding.Site.File, []int{edge.Line}) > 0 || !c.Line.Conditional(edge.Line):
				return 0
			}
			cold = edge.Line
		}
	}
	return cold
}

func baseOf(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// moved reports whether the compiler moved a declared variable to the heap.
func (c *Case) moved() bool {
	e := c.Finding.Escape
	return e != nil && e.From != nil && string(e.From.Verb) == "moved to heap"
}

// callee names the function that a part's call calls.
func (p *Part) callee() string {
	if p.Expr != nil && p.Expr.Callee != "" {
		return shortName(p.Expr.Callee)
	}
	if p.Callee != "" {
		return shortName(p.Callee)
	}
	return "the function"
}

var unboxInterface = Cure{
	Code:  "unbox-interface",
	Title: "do not box the value in an interface",
	Why: "Converting a value that is no pointer to an interface copies it to the heap, unless the compiler can see that the interface does not escape. " +
		"A concrete type, a type parameter, a pointer that is there anyway, or a branch that is taken before the conversion avoids the copy.",
	Before: "func assert(ok bool, format string, args ...any) {\n\tif !ok {\n\t\tpanic(fmt.Sprintf(format, args...))\n\t}\n}\n\nassert(n < max, \"too many: %d\", n) // n is boxed although the test holds",
	After:  "if n >= max {\n\tpanic(fmt.Sprintf(\"too many: %d\", n))\n}",
	Safety: Review,
	Needs:  "the kind of allocation; for the way out, the source and the escape flow",
	Not:    "When the interface is stored: the value has to live somewhere.",
	match:  matchUnboxInterface,
}

func matchUnboxInterface(c *Case, p *Part) (Proposal, bool) {
	if pr, ok := c.fromLibrary(p, "unbox-interface"); ok {
		return pr, true
	}
	why := c.escape()
	switch p.Kind {
	case diagnose.KindBoxing, diagnose.KindVariadic:
		if p.Callee != "" && p.Via != "" {
			return Proposal{}, false
		}
	case diagnose.KindReflect:
		return all(0.5, "switch on the concrete types that are frequent before reflecting", c.amount(p)+" are values that reflection copies"), true
	default:
		return Proposal{}, false
	}
	if p.Library != nil && p.Library.code != "unbox-interface" {
		// A better call than the one that boxes is known.
		return all(0.4, fmt.Sprintf("hand %s what it needs without boxing", p.callee()), why), true
	}
	text := "keep the value in its own type: a concrete parameter, a type parameter, or a pointer that is there anyway"
	if callee := p.callee(); callee != "the function" {
		text = fmt.Sprintf("do not box the arguments of %s: test the condition first, or give it typed parameters", callee)
	}
	return all(0.85, text, why), true
}

var hoistClosure = Cure{
	Code:  "hoist-closure",
	Title: "make the function value once, or not at all",
	Why: "A function literal that captures variables is an object on the heap when it outlives the line, and what it captures by reference is moved there too. " +
		"A method value x.M is a closure as well.",
	Before: "for _, j := range jobs {\n\trun(func() { j.Do(ctx) })\n}",
	After:  "for _, j := range jobs {\n\trun(ctx, j) // takes the job itself\n}",
	Safety: Review,
	Needs:  "the kind of allocation",
	Not:    "When each closure has to remember something of its own.",
	match: func(c *Case, p *Part) (Proposal, bool) {
		if p.Kind != diagnose.KindClosure || p.Via != "" {
			return Proposal{}, false
		}
		text := fmt.Sprintf("make %s once, outside of the hot path, and hand over what it captures as parameters", p.text())
		return all(0.9, text, c.escape()), true
	},
}
