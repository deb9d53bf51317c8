package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// FullGrows is an append to a slice that was made full in the same list of statements, with that make: its array is copied to
// another one at once. The append or the make is the expression. Both are nil for others.
func (p Place) FullGrows() (grows, made *ast.CallExpr) {
	fn, v := p.Body(), p.Defined()
	if c := p.Appends(p.Expr); c != nil {
		v = p.Variable(c.Args[0])
	}
	if fn == nil || v == nil {
		return nil, nil
	}
	var list []ast.Stmt // that the make is one of
	ast.Inspect(fn, func(n ast.Node) bool {
		stmts := statements(n)
		for _, s := range stmts {
			if of, value := p.Set(s); of == v && made == nil {
				made, list = p.full(value), stmts
			}
		}
		return made == nil
	})
	if made == nil {
		return nil, nil
	}
	other, own := false, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		if grows != nil && !own && id.Pos() > grows.End() {
			other = true // two slices would have one array
		}
		switch around := path[len(path)-1].(type) {
		case *ast.CallExpr:
			if p.Appends(around) == nil || around.Args[0] != ast.Expr(id) {
				return
			}
			if grows == nil && plainly(path, list) {
				grows, own = around, p.setBy(path, around) == v
			}
			other = other || grows == nil
		case *ast.AssignStmt:
			other = other || slices.Contains(around.Lhs, ast.Expr(id)) && (len(around.Rhs) != 1 || p.Appends(around.Rhs[0]) == nil)
		case *ast.UnaryExpr:
			other = other || around.Op == token.AND
		}
	})
	if other || grows == nil || p.Expr != ast.Expr(grows) && p.Expr != ast.Expr(made) {
		return nil, nil
	}
	return grows, made
}

// full is e as a make of a slice that has all its elements, of which there may be some; nil for another expression.
func (p Place) full(e ast.Expr) *ast.CallExpr {
	c, ok := e.(*ast.CallExpr)
	if !ok || !p.isBuiltin(c, "make") || len(c.Args) != 2 || p.isZero(c.Args[1]) {
		return nil
	}
	if _, slice := p.Info.TypeOf(c).Underlying().(*types.Slice); !slice {
		return nil
	}
	return c
}

// setBy is the variable that the innermost statement of a path sets to a value; nil for none.
func (p Place) setBy(path []ast.Node, value ast.Expr) types.Object {
	for _, n := range slices.Backward(path) {
		if s, ok := n.(ast.Stmt); ok {
			v, e := p.Set(s)
			if ast.Unparen(e) != value {
				return nil
			}
			return v
		}
	}
	return nil
}

// plainly reports whether what a path leads to is in one of the statements of a list, in no branch, loop or function of
// its own.
func plainly(path []ast.Node, list []ast.Stmt) bool {
	for _, n := range slices.Backward(path) {
		switch n := n.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.FuncLit:
			return false
		case ast.Stmt:
			if slices.Contains(list, n) {
				return true
			}
		}
	}
	return false
}

// Padded reports whether the bytes of a big.Int are made only to be copied to the end of a slice, behind zeros.
func (p Place) Padded() bool {
	c := p.call(p.Expr, "math/big.(*Int).Bytes")
	fn := p.Body()
	if c == nil || fn == nil {
		return false
	}
	v := p.Defined()
	if v == nil {
		return false
	}
	copied, other := false, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		c, ok := path[len(path)-1].(*ast.CallExpr)
		switch {
		case ok && p.isBuiltin(c, "len"):
		case ok && p.isBuiltin(c, "copy") && ast.Unparen(c.Args[1]) == ast.Expr(id) && p.behind(c.Args[0], v):
			copied = true
		default:
			other = true
		}
	})
	return copied && !other
}

// behind reports whether an expression is the end of a slice, as long as a variable.
func (p Place) behind(e ast.Expr, v types.Object) bool {
	s, ok := ast.Unparen(e).(*ast.SliceExpr)
	if !ok || s.Low == nil || s.High != nil {
		return false
	}
	b, ok := ast.Unparen(s.Low).(*ast.BinaryExpr)
	if !ok || b.Op != token.SUB {
		return false
	}
	size, ok := ast.Unparen(b.Y).(*ast.CallExpr)
	return ok && p.isBuiltin(size, "len") && p.Variable(size.Args[0]) == v
}

// OfAnother is the part of another slice that a literal with one element of it is equal to; "" for other expressions, and
// where the other slice may change meanwhile.
func (p Place) OfAnother() string {
	lit, ok := p.Expr.(*ast.CompositeLit)
	if !ok || len(lit.Elts) != 1 {
		return ""
	}
	if _, slice := p.Info.TypeOf(lit).Underlying().(*types.Slice); !slice {
		return ""
	}
	of, ok := ast.Unparen(lit.Elts[0]).(*ast.IndexExpr)
	if !ok || !types.Identical(p.Info.TypeOf(of.X).Underlying(), p.Info.TypeOf(lit).Underlying()) {
		return ""
	}
	if v := p.Variable(of.X); v == nil || p.setBy(p.Path, lit) != v && p.unsteady(of.X, lit.End()) {
		return ""
	}
	if p.isZero(of.Index) {
		return types.ExprString(of.X) + "[:1]"
	}
	return types.ExprString(of.X) + "[" + types.ExprString(of.Index) + ":][:1]"
}

// streams are what takes texts and bytes in parts as well as at once, and at no greater cost.
var streams = []string{"*bufio.Writer", "*bytes.Buffer", "*strings.Builder"}

// isStream reports whether a value is one of those, or a hash.
func (p Place) isStream(e ast.Expr) bool {
	t := p.Info.TypeOf(e)
	if slices.Contains(streams, types.TypeString(t, nil)) {
		return true
	}
	has := func(name string, results int) bool {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		fn, ok := obj.(*types.Func)
		return ok && fn.Signature().Results().Len() == results
	}
	return has("Sum", 1) && has("BlockSize", 1) && has("Size", 1) && has("Write", 2)
}

// ForOneWrite is the hash or buffer that gets all of the expression's slice at once, which is put together of parts for
// nothing else; "" for others.
func (p Place) ForOneWrite() (stream string) {
	fn, v := p.Body(), p.Defined()
	if fn == nil || v == nil || !flow.IsBytes(v.Type()) {
		return ""
	}
	stmts, _ := p.list()
	parts, other := 0, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		e, i := ast.Expr(id), len(path)-1
		for ; i > 0; i-- {
			s, slice := path[i].(*ast.SliceExpr)
			if !slice || s.X != e {
				break
			}
			e = s
		}
		switch around := path[i].(type) {
		case *ast.CallExpr:
			sel, method := around.Fun.(*ast.SelectorExpr)
			switch {
			case p.isBuiltin(around, "len") || p.isBuiltin(around, "cap"):
			case (p.isBuiltin(around, "copy") || p.isBuiltin(around, "append")) && around.Args[0] == e:
				parts++
			case strings.HasPrefix(p.callee(around), "encoding/binary.") && around.Args[0] == e:
				parts++
			case method && sel.Sel.Name == "Write" && len(around.Args) == 1 && stream == "" && p.isStream(sel.X) && plainly(path, stmts):
				stream = types.ExprString(sel.X)
			default:
				other = true
			}
		case *ast.AssignStmt:
			other = other || e != ast.Expr(id) || len(around.Rhs) != 1 || p.Appends(around.Rhs[0]) == nil
		default:
			other = true
		}
	})
	if other || parts < 2 {
		return ""
	}
	return stream
}

// Forks reports whether the expression appends to a slice that is used again beside the result: with room behind its
// elements, both would have one array.
func (p Place) Forks() bool {
	c, fn := p.Appends(p.Expr), p.Body()
	if c == nil || fn == nil {
		return false
	}
	v := p.Variable(c.Args[0])
	if v == nil || p.setBy(p.Path, c) == v {
		return false
	}
	if loop := p.loop(); loop != nil && (v.Pos() < loop.Pos() || v.Pos() >= loop.End()) {
		return true
	}
	again := false
	p.uses(fn, v, func(id *ast.Ident, _ []ast.Node) { again = again || id.Pos() > c.End() })
	return again
}

// WhereNil reports whether the expression is put where the statement around it has found nothing.
func (p Place) WhereNil() bool {
	to := ""
	for _, n := range slices.Backward(p.Path) {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if i := slices.IndexFunc(n.Rhs, func(e ast.Expr) bool { return e.Pos() <= p.Expr.Pos() && p.Expr.End() <= e.End() }); i >= 0 && i < len(n.Lhs) {
				to = types.ExprString(n.Lhs[i])
			}
		case *ast.IfStmt:
			b, ok := ast.Unparen(n.Cond).(*ast.BinaryExpr)
			if ok && b.Op == token.EQL && to != "" && types.ExprString(b.X) == to && p.Info.Types[b.Y].IsNil() && n.Body.Pos() <= p.Expr.Pos() && p.Expr.End() <= n.Body.End() {
				return true
			}
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
	}
	return false
}

// StaysNil reports whether the slice that the expression appends to begins as nil and is returned, and each append to it is in
// a branch or a loop: without one, it stays nil.
func (p Place) StaysNil() bool {
	c, fn := p.Appends(p.Expr), p.Body()
	if c == nil || fn == nil {
		return false
	}
	v, ok := p.Variable(c.Args[0]).(*types.Var)
	if !ok || !p.beginsNil(fn, v) {
		return false
	}
	returned, always := false, false
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.ReturnStmt:
			returned = true
		case *ast.CallExpr:
			always = always || p.Appends(around) != nil && around.Args[0] == ast.Expr(id) && plainly(path, fn.List)
		}
	})
	return returned && !always
}

// beginsNil reports whether a variable is declared without a value, or is a named result.
func (p Place) beginsNil(fn *ast.BlockStmt, v *types.Var) (yes bool) {
	if t, ok := p.Path[0].(*ast.FuncDecl); ok && t.Type.Results != nil && t.Type.Results.Pos() <= v.Pos() && v.Pos() < t.Type.Results.End() {
		return true
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		yes = yes || ok && len(spec.Values) == 0 && slices.ContainsFunc(spec.Names, func(id *ast.Ident) bool { return p.Info.Defs[id] == types.Object(v) })
		return !yes
	})
	return yes
}

// HasSize reports whether the expression makes a map with a size.
func (p Place) HasSize() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	return ok && p.isBuiltin(c, "make") && len(c.Args) == 2
}

// ReadsOne reports whether the expression reads or writes one value through an interface, outside loops: bytes for that would
// have to be on the heap, too, unless the receiver has the stream, and could have them.
func (p Place) ReadsOne() bool {
	c := p.call(p.Expr, "encoding/binary.Read", "encoding/binary.Write")
	return c != nil && types.IsInterface(p.Info.TypeOf(c.Args[0])) && !p.inLoop() && (p.receiver() == nil || p.stem(c.Args[0]) != p.receiver())
}
