package prescribe

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// largeObject is the size from which a value is too large to copy: returning it by value
// costs more than the pointer saves.
const largeObject = 512

var keepOnStack = Cure{
	Code:  "keep-on-stack",
	Title: "keep the value on the stack",
	Why: "A value whose address does not outlive the function needs no heap: no malloc, no zeroing, nothing for the collector to mark. " +
		"Returning a value instead of a pointer, filling one that the caller owns, or moving the escaping use out of the hot path is often enough.",
	Before:  "func newPoint(x, y int) *Point {\n\treturn &Point{x, y}\n}",
	After:   "func newPoint(x, y int) Point {\n\treturn Point{x, y}\n}",
	Safety:  Review,
	Needs:   "the compiler's escape reason and flow",
	WhenNot: "When the value is shared, compared by address, or large.",
	match:   matchKeepOnStack,
}

func matchKeepOnStack(c *candidate, p *allocated) (proposal, bool) {
	if pr, ok := c.fromLibrary(p, "keep-on-stack"); ok {
		return pr, true
	}
	if p.Callee != "" {
		return proposal{}, false
	}
	switch p.Kind {
	case finding.KindNew, finding.KindVariadic:
	case finding.KindMake:
		if p.Expr != nil && !p.Expr.Call.Consts {
			return proposal{}, false // what has no constant size is on the heap, but for a few bytes
		}
	default:
		return proposal{}, false
	}
	why := c.escape()
	tooLarge := c.tooLarge()
	small := c.blockSize() <= largeObject
	if line := c.coldEscape(); line > 0 && !tooLarge {
		text := fmt.Sprintf("copy %s into a new variable on the way to line %d: only that line makes it escape, and the recording shows no cost there", p.text(), line)
		return all(certain, text, why), true
	}
	switch {
	case tooLarge:
		return proposal{}, false
	case p.Life.End == finding.EndUnknown:
		return proposal{}, false
	case moved(c.Finding.Escape) && small:
		return all(fair, fmt.Sprintf("keep %s on the stack: hand it on by value, or keep its address out of what outlives the function", p.text()), why), true
	case p.Kind == finding.KindNew && c.edge("return") && small:
		fit := good
		switch {
		case c.perOp(p) >= 4*manyObjects || c.recursive():
			fit = even // so many of them are a structure that is kept, not results that are passed up
		case p.Expr != nil && p.Expr.Use.Kind == source.UseReturned:
			fit = strong
		}
		return all(fit, fmt.Sprintf("return %s by value, or fill one that the caller owns", p.text()), why), true
	case p.Kind == finding.KindVariadic:
		return all(even, fmt.Sprintf("call %s without a variadic slice", p.callee()), why), true
	case p.Kind == finding.KindMake && c.edge("return") && small && c.short() && p.Life.End == finding.EndFrame:
		return all(faint, fmt.Sprintf("let the caller hand in the memory for %s", p.text()), why), true
	}
	return proposal{}, false
}

// tooLarge reports whether the value may be on the heap for its size: the compiler says so,
// or has nothing on a value of such a size.
func (c *candidate) tooLarge() bool {
	switch kind := c.Finding.Allocation.Kind; c.fate() {
	case finding.FateTooLarge:
		return true
	case finding.FateUnexplained:
		return kind == finding.KindNew || kind == finding.KindMap
	}
	return false
}

// coldEscape is the line of the same function that makes the value escape, if that line is
// in a branch without recorded cost; 0 if there is none or it is not known.
func (c *candidate) coldEscape() int {
	e := c.Finding.Escape
	if e == nil || c.Line == nil || len(c.diagnosis.Lines) == 0 {
		return 0
	}
	if !c.onlyCold(c.Parts[0].Life.Ways) {
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
			case !c.Line.Avoidable(edge.Line):
				return 0 // every call passes there, too quickly to be sampled
			}
			cold = edge.Line
		}
	}
	return cold
}

// onlyCold reports whether all lines that hand the value on are in branches without recorded
// cost; the compiler names one of them only.
func (c *candidate) onlyCold(ways []int) bool {
	for _, line := range ways {
		if line != c.Finding.Site.Line && (heaviestOf(c.diagnosis, c.Finding.Site.File, []int{line}) > 0 ||
			!c.Line.Conditional(line) || !c.Line.Avoidable(line)) {
			return false
		}
	}
	return true
}

func baseOf(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// moved reports whether the compiler moved a declared variable to the heap.
func moved(e *finding.Escape) bool {
	return e != nil && e.From != nil && string(e.From.Verb) == "moved to heap"
}

// callee names the function that a part's call calls.
func (p *allocated) callee() string {
	if p.Expr != nil && p.Expr.Call.Callee != "" {
		return shortName(p.Expr.Call.Callee)
	}
	if p.Callee != "" {
		return shortName(p.Callee)
	}
	return "the function"
}
