package diagnose

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// kindRule gives the kind of what a function allocates. It matches the
// function itself and those that the name is a prefix of.
type kindRule struct {
	prefix string
	kind   Kind
}

// callerKinds are functions outside the runtime whose allocations are of one
// kind, whatever runtime function they use for them.
var callerKinds = []kindRule{
	{"strings.(*Builder).", KindString},
	{"bytes.(*Buffer).", KindGrowth},
	{"bytes.growSlice", KindGrowth},
	{"reflect.", KindReflect},
	{"internal/reflectlite.", KindReflect},
}

// runtimeKinds are the functions that compiled code calls to allocate. The
// names hold for Go 1.24 to 1.27; the first match counts.
var runtimeKinds = []kindRule{
	{"runtime.growslice", KindGrowth},
	{"runtime.moveSlice", KindGrowth}, // Go 1.26: a grown slice leaves the stack
	{"runtime.makeslice", KindMake},
	{"runtime.makemap", KindMap},
	{"runtime.mapclone", KindMap},
	{"internal/runtime/maps.NewMap", KindMap},
	{"internal/runtime/maps.NewEmptyMap", KindMap},
	{"runtime.mapassign", KindMapGrowth},
	{"internal/runtime/maps.", KindMapGrowth},
	{"runtime.makechan", KindChan},
	{"runtime.convT", KindBoxing},
	{"runtime.slicebytetostring", KindConversion},
	{"runtime.stringtoslicebyte", KindConversion},
	{"runtime.stringtoslicerune", KindConversion},
	{"runtime.slicerunetostring", KindConversion},
	{"runtime.intstring", KindConversion},
	{"runtime.concat", KindConcat}, // concatstrings, concatstring2 …, concatbytes …
	{"runtime.newproc", KindGoroutine},
	{"runtime.malg", KindGoroutine},
	{"reflect.unsafe_New", KindReflect},
	{"internal/bytealg.MakeNoZero", KindString},
	{"runtime.newobject", KindNew},
	{"runtime.newarray", KindNew},
}

// libraryKinds are what is left to go by where a profile hides the runtime's
// frames and the compiler printed nothing.
var libraryKinds = []kindRule{
	{"strings.", KindString},
	{"strconv.Append", KindGrowth},
	{"strconv.", KindConversion},
	{"slices.Grow", KindGrowth},
	{"slices.Insert", KindGrowth},
	{"maps.Clone", KindMap},
}

// kindOf tells what kind of expression allocates. Frames are the runtime's
// functions above the site, leaf first; they are empty in a plain profile, and
// for small objects in Go 1.27 even in a raw one. Fn is the function that
// called them, or the library function that the site called. Expr is the
// compiler's text for what escapes, empty where it printed none.
func kindOf(frames []string, fn, expr string) Kind {
	if k := kindIn(callerKinds, fn); k != KindUnknown {
		return k
	}
	byExpr := kindOfExpr(expr)
	// The outermost runtime function is the one that the code called.
	for i := len(frames) - 1; i >= 0; i-- {
		switch k := kindIn(runtimeKinds, frames[i]); {
		case k == KindUnknown:
		case k == KindMapGrowth && byExpr == KindMap:
			return KindMap // a map literal fills itself
		case k == KindNew && byExpr != KindUnknown:
			return byExpr
		default:
			return k
		}
	}
	if byExpr != KindUnknown {
		return byExpr
	}
	return kindIn(libraryKinds, fn)
}

func kindIn(rules []kindRule, function string) Kind {
	for _, r := range rules {
		if strings.HasPrefix(function, r.prefix) {
			return r.kind
		}
	}
	return KindUnknown
}

// exprKinds tell the kind from how the compiler's text for an expression
// begins. The first match counts.
var exprKinds = []kindRule{
	{"append(", KindGrowth},
	{"make([]", KindMake},
	{"make(map[", KindMap},
	{"make(chan ", KindChan},
	{"make(<-chan ", KindChan},
	{"func literal", KindClosure},
	{"... argument", KindVariadic},
	{"string(", KindConversion},
	{"([]byte)(", KindConversion},
	{"([]rune)(", KindConversion},
	{"([]uint8)(", KindConversion},
	{"([]int32)(", KindConversion},
	{"&", KindNew},
	{"new(", KindNew},
}

// kindOfExpr tells the kind from the compiler's text alone. A plain name is
// a moved variable or a boxed value, which the text does not tell apart.
func kindOfExpr(expr string) Kind {
	switch {
	case expr == "append": // the text of -m level 1
		return KindGrowth
	case isSum(expr):
		return KindConcat
	case strings.HasPrefix(expr, "make(") && strings.HasSuffix(expr, ")") && !strings.ContainsAny(expr, "[], "):
		return KindMap // of a named type without a length
	case strings.HasPrefix(expr, "map[") && strings.HasSuffix(expr, "}"):
		return KindMap
	case strings.HasPrefix(expr, "[]") && strings.HasSuffix(expr, "}"):
		return KindNew
	}
	return kindIn(exprKinds, expr)
}

// kindOfEscape tells the kind from a decision of the compiler. What goes to
// the heap under its own name without being moved is boxed.
func kindOfEscape(e *evidence.Escape) Kind {
	if e.Verb == evidence.MovedToHeap {
		return KindNew
	}
	if k := kindOfExpr(e.Expr); k != KindUnknown {
		return k
	}
	if isConstant(e.Expr) || strings.HasPrefix(e.Expr, "make(") {
		return KindUnknown
	}
	return KindBoxing
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
			i = endOfQuote(expr, i)
		case '+':
			if depth == 0 && strings.HasPrefix(expr[i:], "+ ") && i > 1 && expr[i-1] == ' ' {
				return true
			}
		}
	}
	return false
}

// endOfQuote returns the index of the quote that closes the one at i, or the
// last index.
func endOfQuote(s string, i int) int {
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

// isConstant reports whether the expression is a literal. The compiler says
// that constants escape when they are boxed; they lie in read-only data and
// allocate nothing.
func isConstant(expr string) bool {
	if expr == "" {
		return false
	}
	switch c := expr[0]; {
	case c == '"' || c == '`' || c == '\'':
		return endOfQuote(expr, 0) == len(expr)-1
	case c == '-' && len(expr) > 1:
		return '0' <= expr[1] && expr[1] <= '9'
	case '0' <= c && c <= '9':
		return true
	}
	return expr == "true" || expr == "false" || expr == "nil"
}
