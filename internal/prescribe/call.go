package prescribe

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/library"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/suited"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
)

// listed reports whether the part's library call has an entry for a cure. What it decodes into is no
// reason for one.
func (p *allocated) listed(code string) bool {
	if p.Line != nil && (p.Expr == nil || p.Line.Dynamic(p.Expr)) && !p.ofReceiver() {
		return false // the line does not choose the function: a method of an interface, a function value
	}
	return p.Library != nil && p.Library.Code == code && !(p.Library.Stays == library.Values && p.isValue()) && p.suited()
}

// suited reports whether the better call does the same here. Where the call is not seen, a condition does not hold.
func (p *allocated) suited() bool {
	if p.Expr == nil || p.Expr.Kind != source.Call {
		return !suited.Conditional(p.Callee)
	}
	return suited.Call(p.Callee, p.place())
}

// ofReceiver reports whether a method allocates for its receiver, and the receiver dies in sight or is made in sight.
// The code that made the receiver then chose the function.
func (p *allocated) ofReceiver() bool {
	return (p.Life.End == finding.EndFrame || p.Life.Maker.At.Line > 0) && p.ownMemory()
}

// splits reports whether the part's call cuts a text into parts.
func (p *allocated) splits() bool {
	_, name, _ := strings.Cut(p.Callee, ".")
	return strings.HasPrefix(name, "Split") || strings.HasPrefix(name, "Fields")
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
	return p.Kind == finding.KindConversion || p.Kind == finding.KindString || p.Kind == finding.KindConcat
}

// keptResult reports whether the code keeps a call's result, or may do, or needs it as a string, so a better call has
// to allocate it too.
func (p *allocated) keptResult() bool {
	if p.Expr == nil {
		return false
	}
	if u := p.Expr.Use; u.Kind == source.UseReturned || u.Kind == source.UseAssigned && u.Field {
		return true
	}
	return p.Life.Passed.Taken || p.Life.End != finding.EndFrame && p.Life.End != finding.EndUnknown
}

// better is what to do instead of a library call. Text that has to be a string is only put together in another way.
func (p *allocated) better() string {
	if strings.HasPrefix(p.Callee, "fmt.Sprint") && p.keptResult() {
		if p.Expr != nil && waste.PrintsHex(p.Line, p.Expr) {
			return "put the text together with hex.AppendEncode, which boxes nothing"
		}
		return "put the text together with + and strconv, which box nothing"
	}
	return p.Library.Better
}
