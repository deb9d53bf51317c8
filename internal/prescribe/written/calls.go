package written

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// ofClock reports whether a source of random numbers is seeded by the clock: no sequence in particular is asked for.
func ofClock(p idiom.Place) bool {
	c, ok := p.Expr.(*ast.CallExpr)
	if ok && calleeName(p, c) == "math/rand.New" && len(c.Args) == 1 {
		c, ok = ast.Unparen(c.Args[0]).(*ast.CallExpr)
	}
	return ok && calleeName(p, c) == "math/rand.NewSource" && byClock(p, settled(p, c.Args[0]))
}

// byClock reports whether an expression is a count of seconds, or of parts of them, of time.Now.
func byClock(p idiom.Place, e ast.Expr) bool {
	unix, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := unix.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(calleeName(p, unix), "(time.Time).Unix") {
		return false
	}
	now, ok := ast.Unparen(sel.X).(*ast.CallExpr)
	return ok && calleeName(p, now) == "time.Now"
}

// settled is the value that a variable of the function is declared with, if nothing sets it later, and the expression itself
// for others.
func settled(p idiom.Place, e ast.Expr) ast.Expr {
	v, fn := p.Variable(e), p.Body()
	if v == nil || fn == nil || v.Pos() < fn.Pos() || v.Pos() > fn.End() {
		return e
	}
	value, sets := e, 0
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			i := slices.IndexFunc(n.Lhs, func(to ast.Expr) bool { return p.Variable(to) == v })
			if i < 0 {
				return true
			}
			sets++
			if n.Tok == token.DEFINE && len(n.Lhs) == len(n.Rhs) {
				value = n.Rhs[i]
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && p.Variable(n.X) == v {
				sets = 2
			}
		}
		return true
	})
	if sets != 1 {
		return e
	}
	return value
}

// readsFile reports whether an expression reads a whole file into memory of its own.
func readsFile(p idiom.Place) bool {
	c, ok := p.Expr.(*ast.CallExpr)
	return ok && slices.Contains([]string{"os.ReadFile", "io/ioutil.ReadFile"}, calleeName(p, c))
}

// readsAll reports whether an expression reads a stream to its end into memory of its own.
func readsAll(p idiom.Place) bool {
	c, ok := p.Expr.(*ast.CallExpr)
	return ok && slices.Contains([]string{"io.ReadAll", "io/ioutil.ReadAll"}, calleeName(p, c))
}

// OnlyForItself reports whether an expression calls a function, not a method, that cannot keep memory: its results are numbers,
// truth values and errors; its arguments are these, texts, bytes and io.Writers, and Write must not keep its argument.
func OnlyForItself(p idiom.Place) bool {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || p.Info.Types[c.Fun].IsType() {
		return false
	}
	sig, ok := p.Info.TypeOf(c.Fun).(*types.Signature)
	if sel, method := ast.Unparen(c.Fun).(*ast.SelectorExpr); !ok || method && p.Info.Selections[sel] != nil {
		return false
	}
	for v := range sig.Results().Variables() {
		if b, basic := v.Type().Underlying().(*types.Basic); !(basic && b.Info()&types.IsString == 0) && !isError(v.Type()) {
			return false
		}
	}
	for v := range sig.Params().Variables() {
		_, basic := v.Type().Underlying().(*types.Basic)
		if !basic && v.Type().String() != bytesType && !isWriter(v.Type()) {
			return false
		}
	}
	return sig.Results().Len() > 0
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// isWriter reports whether a type is an interface of the method Write alone.
func isWriter(t types.Type) bool {
	i, ok := t.Underlying().(*types.Interface)
	return ok && i.NumMethods() == 1 && i.Method(0).Name() == "Write"
}

// oneOfMany is the method of an interface of the same package that takes any number of values, and is handed one; "" for
// others. Values of interface types are left out: what takes them, such as a logger, is seldom asked one by one.
func oneOfMany(p idiom.Place) string {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || c.Ellipsis.IsValid() {
		return ""
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	fn, ok := p.Info.Uses[sel.Sel].(*types.Func)
	if !ok || !fn.Signature().Variadic() || fn.Signature().Recv() == nil || len(c.Args) != fn.Signature().Params().Len() {
		return ""
	}
	values := fn.Signature().Params().At(len(c.Args) - 1).Type().(*types.Slice)
	if !types.IsInterface(fn.Signature().Recv().Type()) || types.IsInterface(values.Elem()) && !isParameter(values.Elem()) || !inPackageOf(p, sel.Sel, fn) {
		return ""
	}
	return types.ExprString(sel)
}

// isParameter reports whether a type is a type parameter, which has an interface for its constraint.
func isParameter(t types.Type) bool { _, yes := types.Unalias(t).(*types.TypeParam); return yes }

// inPackageOf reports whether a function is declared in the package that names it.
func inPackageOf(p idiom.Place, at *ast.Ident, fn *types.Func) bool {
	for _, scope := range p.Info.Scopes {
		if scope.Contains(at.Pos()) {
			for ; scope.Parent() != nil; scope = scope.Parent() {
				if scope == fn.Pkg().Scope() {
					return true
				}
			}
			return false
		}
	}
	return false
}

// decodedSize is the size of what an encoded text is decoded to, where a slice for it is made as long as the text, or as what
// would be encoded of it; "" for others.
func decodedSize(p idiom.Place) (size string) {
	made, ok := p.Expr.(*ast.CallExpr)
	v, fn := p.Defined(), p.Body()
	if !ok || v == nil || fn == nil || len(made.Args) != 2 {
		return ""
	}
	id, ok := made.Fun.(*ast.Ident)
	if !ok || id.Name != "make" {
		return ""
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		if !ok || len(c.Args) != 2 || p.Variable(c.Args[0]) != v {
			return size == ""
		}
		sel, ok := c.Fun.(*ast.SelectorExpr)
		name := calleeName(p, c)
		if ok && slices.Contains([]string{"(*encoding/base64.Encoding).Decode", "(*encoding/base32.Encoding).Decode", "encoding/hex.Decode"}, name) {
			long, of := "len("+types.ExprString(c.Args[1])+")", types.ExprString(sel.X)
			if given := types.ExprString(made.Args[1]); given == long || given == of+".EncodedLen("+long+")" {
				size = of + ".DecodedLen(" + long + ")"
			}
		}
		return size == ""
	})
	return size
}
