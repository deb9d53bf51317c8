package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Element names the slice of pointers to which the function appends the address of the expression's new struct: at once,
// or by a variable of which only the fields are used before. It is "" for another expression.
func (p Place) Element() string {
	e, path := p.Expr, p.Path
	if len(path) > 0 {
		if at, ok := path[len(path)-1].(*ast.UnaryExpr); ok && at.Op == token.AND {
			e, path = at, path[:len(path)-1]
		}
	}
	t, pointer := p.Info.TypeOf(e).(*types.Pointer)
	if !pointer || len(path) == 0 || types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface)) {
		return "" // errors are made where something is wrong
	}
	if c, ok := path[len(path)-1].(*ast.CallExpr); ok {
		return p.appendedTo(c, e)
	}
	fn, v := p.Body(), p.Defined()
	if fn == nil || v == nil {
		return ""
	}
	into, fields := "", true
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		switch around := path[len(path)-1].(type) {
		case *ast.SelectorExpr:
		case *ast.CallExpr:
			if to := p.appendedTo(around, id); to != "" && into == "" {
				into = to
				return
			}
			fields = false
		default:
			fields = false
		}
	})
	if !fields {
		return ""
	}
	return into
}

// appendedTo names the slice to which a call appends an element, and which is set to the result; "" for another call.
func (p Place) appendedTo(c *ast.CallExpr, element ast.Expr) string {
	if p.Appends(c) == nil || c.Ellipsis.IsValid() || c.Args[0] == element {
		return ""
	}
	to := types.ExprString(c.Args[0])
	set := false
	ast.Inspect(p.Path[0], func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		set = set || ok && len(a.Lhs) == 1 && a.Rhs[0] == ast.Expr(c) && types.ExprString(a.Lhs[0]) == to
		return !set
	})
	if !set {
		return ""
	}
	return to
}

// MadeCopy names the slice that the next statement copies into the slice of the same length that the expression makes; ""
// for another expression.
func (p Place) MadeCopy() string {
	c, ok := p.Expr.(*ast.CallExpr)
	stmts, at := p.list()
	if !ok || at < 0 || at+1 >= len(stmts) || !p.isBuiltin(c, "make") || len(c.Args) != 2 {
		return ""
	}
	v, value := p.Set(stmts[at])
	next, ok := stmts[at+1].(*ast.ExprStmt)
	if v == nil || value != ast.Expr(c) || !ok {
		return ""
	}
	copies, ok := next.X.(*ast.CallExpr)
	if !ok || !p.isBuiltin(copies, "copy") || p.Variable(copies.Args[0]) != v {
		return ""
	}
	size, ok := c.Args[1].(*ast.CallExpr)
	from := types.ExprString(copies.Args[1])
	if !ok || !p.isBuiltin(size, "len") || types.ExprString(size.Args[0]) != from || p.unsteady(copies.Args[1], copies.End()) {
		return ""
	}
	return from
}

// IsBareMap reports whether the expression makes a map without entries and without a size.
func (p Place) IsBareMap() bool {
	switch e := p.Expr.(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		return p.isBuiltin(e, "make") && len(e.Args) == 1
	}
	return false
}

// TakesTurns reports whether the expression is a call in a loop whose result takes the place of one of its operands for the
// next turn, and is kept nowhere else: of all results, only the last one stays.
func (p Place) TakesTurns() bool {
	c, ok := p.Expr.(*ast.CallExpr)
	stmts, at := p.list()
	loop := p.loop()
	if !ok || at < 0 || loop == nil {
		return false
	}
	v, value := p.Set(stmts[at])
	if v == nil || value != ast.Expr(c) {
		return false
	}
	operands := map[types.Object]bool{}
	for _, a := range c.Args {
		operands[p.Variable(a)] = true
	}
	if sel, ok := c.Fun.(*ast.SelectorExpr); ok && p.Info.Selections[sel] != nil {
		operands[p.Variable(sel.X)] = true
	}
	delete(operands, nil)
	if !flat(v.Type(), 0) {
		return false // the result may have the operand in it
	}
	replaced, kept := operands[v], false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if i >= len(n.Rhs) || len(n.Lhs) != len(n.Rhs) || p.Variable(n.Rhs[i]) != v {
					continue
				}
				o := p.Variable(to)
				replaced, kept = replaced || operands[o] && o.Pos() < loop.Pos(), kept || !operands[o]
			}
		case *ast.CallExpr:
			kept = kept || n != c && !p.isBuiltin(n, "copy") && !p.asks(n) && p.holds(n.Args, v)
		case *ast.CompositeLit:
			kept = kept || p.holds(n.Elts, v)
		case *ast.KeyValueExpr:
			kept = kept || p.Variable(n.Value) == v
		case *ast.SendStmt:
			kept = kept || p.Variable(n.Value) == v
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			kept = true
		}
		return !kept
	})
	return replaced && !kept
}

// asks reports whether a call gives a number or a truth value.
func (p Place) asks(c *ast.CallExpr) bool {
	b, ok := p.Info.TypeOf(c).(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

func (p Place) holds(list []ast.Expr, v types.Object) bool {
	return slices.ContainsFunc(list, func(e ast.Expr) bool { return p.Variable(e) == v })
}

// loop is the innermost loop around the expression, in its function; nil for none.
func (p Place) loop() ast.Node {
	for _, n := range slices.Backward(p.Path) {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.FuncDecl:
			return nil
		case *ast.ForStmt, *ast.RangeStmt:
			return n
		}
	}
	return nil
}

// flat reports whether a type has no memory but its own, and slices and pointers to such memory: nothing else can be
// reached by it.
func flat(t types.Type, depth int) bool {
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return t.Kind() != types.UnsafePointer
	case *types.Array:
		return flat(t.Elem(), depth)
	case *types.Slice:
		return depth < 3 && flat(t.Elem(), depth+1)
	case *types.Pointer:
		return depth < 3 && flat(t.Elem(), depth+1)
	case *types.Struct:
		for f := range t.Fields() {
			if !flat(f.Type(), depth) {
				return false
			}
		}
		return true
	}
	return false
}
