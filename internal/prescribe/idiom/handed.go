package idiom

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// ConstantHeader reports whether the expression sets a header to a constant value.
func (p Place) ConstantHeader() bool {
	c := p.call(p.Expr, "net/http.Header.Set")
	return c != nil && p.constant(c.Args[0]) && p.constant(c.Args[1])
}

// Contexts counts the calls of context.WithValue of which the expression is one, each around the context of the one before;
// 0 for another expression.
func (p Place) Contexts() (n int) {
	const withValue = "context.WithValue"
	if p.call(p.Expr, withValue) == nil {
		return 0
	}
	made := map[types.Object]int{} // how many calls made the context that a variable has
	var depth func(e ast.Expr) int
	depth = func(e ast.Expr) int {
		if c := p.call(e, withValue); c != nil {
			return 1 + depth(c.Args[0])
		}
		return made[p.variable(e)]
	}
	stmts, _ := p.list()
	for _, s := range stmts {
		at := 0
		ast.Inspect(s, func(m ast.Node) bool {
			if e, ok := m.(ast.Expr); ok && at == 0 {
				at = max(at, depth(e))
			}
			_, inner := m.(*ast.BlockStmt)
			return !inner
		})
		v, value := p.set(s)
		switch {
		case v != nil && p.call(value, withValue) != nil:
			made[v] = depth(value)
		case v != nil:
			delete(made, v)
		}
		if at > n {
			n = at
		}
	}
	return n
}

// ForFunctions names the type of the options that are handed the address of the expression's variable: function values, or
// values of an interface, in the function's last parameter, over which it ranges. Beside that, the function only gets at
// the variable's fields, or returns it. It is "" for another expression.
func (p Place) ForFunctions() (name string) {
	fn, v := p.body(), p.holder()
	if fn == nil || v == nil {
		return ""
	}
	only := true
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		e, outer := ast.Expr(id), path[len(path)-1]
		if at, ok := outer.(*ast.UnaryExpr); ok && at.Op == token.AND && len(path) > 1 {
			e, outer = at, path[len(path)-2]
		}
		switch outer := outer.(type) {
		case *ast.SelectorExpr, *ast.StarExpr, *ast.ReturnStmt:
			return
		case *ast.CallExpr:
			if of := p.option(outer); of != nil && outer.Fun != e && p.isOption(of, path) {
				name = types.TypeString(p.Info.TypeOf(of), types.RelativeTo(v.Pkg()))
				return
			}
		}
		only = false
	})
	if !only {
		return ""
	}
	return name
}

// option is the function value, or the value of an interface, whose only argument a call hands it; nil for another call.
func (p Place) option(c *ast.CallExpr) *ast.Ident {
	of := c.Fun
	if sel, ok := of.(*ast.SelectorExpr); ok {
		if s := p.Info.Selections[sel]; s != nil && s.Kind() == types.MethodVal && types.IsInterface(s.Recv()) {
			of = sel.X
		}
	}
	id, ok := of.(*ast.Ident)
	if !ok || len(c.Args) != 1 {
		return nil
	}
	return id
}

// isOption reports whether a variable is that of a loop around it over the last, variadic parameter of the function.
func (p Place) isOption(id *ast.Ident, path []ast.Node) bool {
	fn, ok := p.Path[0].(*ast.FuncDecl)
	if !ok || fn.Type.Params.NumFields() == 0 {
		return false
	}
	last := fn.Type.Params.List[len(fn.Type.Params.List)-1]
	if _, variadic := last.Type.(*ast.Ellipsis); !variadic || len(last.Names) != 1 {
		return false
	}
	return slices.ContainsFunc(path, func(n ast.Node) bool {
		r, ok := n.(*ast.RangeStmt)
		return ok && r.Value != nil && p.variable(r.Value) == p.variable(id) && p.variable(r.X) == p.Info.Defs[last.Names[0]]
	})
}
