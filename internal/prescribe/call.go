package prescribe

import (
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// instead is the sentence that names the better call.
func (p *allocated) instead() string {
	if p.Library == nil || p.Library.Better == "" {
		return ""
	}
	return "instead of " + shortName(p.Callee) + ", " + p.Library.Better
}

// fromLibrary is the proposal of the library table, where it names a code.
func (c *candidate) fromLibrary(p *allocated, code string) (proposal, bool) {
	if p.Library == nil || p.Library.Code != code {
		return proposal{}, false
	}
	pr := all(evident, p.instead(), c.amount(p)+" come from "+shortName(p.Callee))
	if p.Library.Stays == library.Values && p.isValue() {
		return proposal{}, false
	}
	if p.Library.Stays == library.Result && p.isResult() && p.keptResult() {
		pr.Objects, pr.Bytes, pr.Live = 0, 0, 0
		pr.Fit = even
	}
	return pr, true
}

// isValue reports whether the part has the kind of decoded values, and is not the decoder's
// own memory.
func (p *allocated) isValue() bool {
	switch p.Kind {
	case finding.KindReflect, finding.KindMap, finding.KindMapGrowth, finding.KindBoxing:
		return true
	}
	return p.isResult()
}

// isResult reports whether the part is the library function's result, and not temporary
// memory.
func (p *allocated) isResult() bool {
	switch p.Kind {
	case finding.KindConversion, finding.KindString, finding.KindConcat:
		return true
	}
	return false
}

// keptResult reports whether the code keeps a call's result, so a better call has to
// allocate it too.
func (p *allocated) keptResult() bool {
	if p.Expr == nil {
		return false
	}
	switch u := p.Expr.Use; u.Kind {
	case source.UseReturned:
		return true
	case source.UseAssigned:
		return u.Field
	}
	return false
}
