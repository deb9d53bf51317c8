// Package alloc determines the kind of expression that allocates: from the runtime's
// functions on the stack, from the called library function, or from the source line.
package alloc

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// kindRule gives the kind of a function's allocations. It matches the function itself and
// all functions that begin with its name.
type kindRule struct {
	prefix string
	kind   finding.Kind
}

// callerKinds are functions outside the runtime whose allocations are of one kind,
// independent of the runtime function that they use.
var callerKinds = []kindRule{
	{"strings.(*Builder).", finding.KindString},
	{"bytes.(*Buffer).String", finding.KindConversion},
	{"bytes.(*Buffer).", finding.KindGrowth},
	{"bytes.growSlice", finding.KindGrowth},
	{"reflect.", finding.KindReflect},
	{"internal/reflectlite.", finding.KindReflect},
}

// runtimeKinds are the functions that compiled code calls to allocate. The
// names hold for Go 1.24 to 1.27; the first match counts.
var runtimeKinds = []kindRule{
	{"runtime.growslice", finding.KindGrowth},
	{"runtime.moveSlice", finding.KindGrowth}, // Go 1.26: a grown slice leaves the stack
	{"runtime.makeslice", finding.KindMake},
	{"runtime.makemap", finding.KindMap},
	{"runtime.mapclone", finding.KindMap},
	{"internal/runtime/maps.NewMap", finding.KindMap},
	{"internal/runtime/maps.NewEmptyMap", finding.KindMap},
	{"runtime.mapassign", finding.KindMapGrowth},
	{"internal/runtime/maps.", finding.KindMapGrowth},
	{"runtime.makechan", finding.KindChan},
	{"runtime.convT", finding.KindBoxing},
	{"runtime.slicebytetostring", finding.KindConversion},
	{"runtime.stringtoslicebyte", finding.KindConversion},
	{"runtime.stringtoslicerune", finding.KindConversion},
	{"runtime.slicerunetostring", finding.KindConversion},
	{"runtime.intstring", finding.KindConversion},
	{"runtime.concat", finding.KindConcat}, // concatstrings, concatstring2 …, concatbytes …
	{"runtime.newproc", finding.KindGoroutine},
	{"runtime.malg", finding.KindGoroutine},
	{"reflect.unsafe_New", finding.KindReflect},
	{"internal/bytealg.MakeNoZero", finding.KindString},
	{"runtime.newobject", finding.KindNew},
	{"runtime.newarray", finding.KindNew},
}

// libraryKinds are the last resort if a profile hides the runtime's frames and the compiler
// printed nothing.
var libraryKinds = []kindRule{
	{"strings.", finding.KindString},
	{"strconv.Append", finding.KindGrowth},
	{"strconv.", finding.KindConversion},
	{"slices.Grow", finding.KindGrowth},
	{"slices.Insert", finding.KindGrowth},
	{"maps.Clone", finding.KindMap},
}

// Of returns the kind of expression that allocates. Frames are the runtime's functions above
// the site, leaf first; they are empty in a plain profile, and for small objects in Go 1.27
// even in a raw one. Fn is the function that called them, or the library function that the
// site called. Expr is the compiler's text for the escaping expression, empty if it printed
// none.
func Of(frames []string, fn, expr string) finding.Kind {
	if k := kindIn(callerKinds, fn); k != finding.KindUnknown {
		return k
	}
	byExpr := KindOfExpr(expr)
	// The outermost runtime function is the one that the code called.
	for i := len(frames) - 1; i >= 0; i-- {
		switch k := kindIn(runtimeKinds, frames[i]); {
		case k == finding.KindUnknown:
		case k == finding.KindMapGrowth && byExpr == finding.KindMap:
			return finding.KindMap // a map literal fills itself
		case k == finding.KindNew && byExpr != finding.KindUnknown:
			return byExpr
		default:
			return k
		}
	}
	if byExpr != finding.KindUnknown {
		return byExpr
	}
	return kindIn(libraryKinds, fn)
}

func kindIn(rules []kindRule, function string) finding.Kind {
	for _, r := range rules {
		if strings.HasPrefix(function, r.prefix) {
			return r.kind
		}
	}
	return finding.KindUnknown
}

// exprKinds give the kind from the beginning of the compiler's text for an expression. The
// first match counts.
var exprKinds = []kindRule{
	{"append(", finding.KindGrowth},
	{"make([]", finding.KindMake},
	{"make(map[", finding.KindMap},
	{"make(chan ", finding.KindChan},
	{"make(<-chan ", finding.KindChan},
	{"func literal", finding.KindClosure},
	{"... argument", finding.KindVariadic},
	{"string(", finding.KindConversion},
	{"([]byte)(", finding.KindConversion},
	{"([]rune)(", finding.KindConversion},
	{"([]uint8)(", finding.KindConversion},
	{"([]int32)(", finding.KindConversion},
	{"&", finding.KindNew},
	{"new(", finding.KindNew},
}

// KindOfExpr returns the kind from the compiler's text alone. A plain name is a moved
// variable or a boxed value; the text does not show which.
func KindOfExpr(expr string) finding.Kind {
	switch {
	case expr == "append": // the text of -m level 1
		return finding.KindGrowth
	case isSum(expr):
		return finding.KindConcat
	case strings.HasPrefix(expr, "make(") && strings.HasSuffix(expr, ")") && !strings.ContainsAny(expr, "[], "):
		return finding.KindMap // of a named type without a length
	case strings.HasPrefix(expr, "map[") && strings.HasSuffix(expr, "}"):
		return finding.KindMap
	case strings.HasPrefix(expr, "[]") && strings.HasSuffix(expr, "}"):
		return finding.KindNew
	}
	return kindIn(exprKinds, expr)
}

// KindOfEscape returns the kind from a decision of the compiler. A value that escapes under
// its own name without being moved is boxed.
func KindOfEscape(e *evidence.Escape) finding.Kind {
	if e.Verb == evidence.MovedToHeap {
		return finding.KindNew
	}
	if k := KindOfExpr(e.Expr); k != finding.KindUnknown {
		return k
	}
	if IsConstant(e.Expr) || strings.HasPrefix(e.Expr, "make(") {
		return finding.KindUnknown
	}
	return finding.KindBoxing
}

// isSum reports whether the expression is a + outside all brackets and
// quotes.
func isSum(expr string) bool {
	depth := 0
	for i := 0; i < len(expr); i++ {
		switch c := expr[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '"', '`', '\'':
			i = EndOfQuote(expr, i)
		case '+':
			if depth == 0 && strings.HasPrefix(expr[i:], "+ ") && i > 1 && expr[i-1] == ' ' {
				return true
			}
		}
	}
	return false
}

// EndOfQuote returns the index of the quote that closes the one at i, or the
// last index.
func EndOfQuote(s string, i int) int {
	quote := s[i]
	for i++; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote != '`':
			i++
		case s[i] == quote:
			return i
		}
	}
	return len(s) - 1
}

// IsConstant reports whether the expression is a literal. The compiler says
// that constants escape when they are boxed; they lie in read-only data and
// allocate nothing.
func IsConstant(expr string) bool {
	if expr == "" {
		return false
	}
	switch c := expr[0]; {
	case c == '"' || c == '`' || c == '\'':
		return EndOfQuote(expr, 0) == len(expr)-1
	case c == '-' && len(expr) > 1:
		return '0' <= expr[1] && expr[1] <= '9'
	case '0' <= c && c <= '9':
		return true
	}
	return expr == "true" || expr == "false" || expr == "nil"
}
