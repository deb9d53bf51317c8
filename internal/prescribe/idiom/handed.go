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

// chain is a row of contexts, each made of the one before.
type chain struct {
	n   int
	has bool // the place's expression makes one of them
}

// Contexts is how many calls in a row, that of the expression among them, put values into a context under keys of the
// package's own types.
func (p Place) Contexts() int {
	made := map[types.Object]*chain{} // that a variable has the last of
	var of func(e ast.Expr) *chain
	of = func(e ast.Expr) *chain {
		c := p.ownValue(e)
		if c == nil {
			return made[p.Variable(e)]
		}
		row := of(c.Args[0])
		if row == nil {
			row = &chain{}
		}
		row.n++
		row.has = row.has || ast.Expr(c) == p.Expr
		return row
	}
	var own *chain
	stmts, _ := p.list()
	for _, s := range stmts {
		v, value := p.Set(s)
		ast.Inspect(s, func(m ast.Node) bool {
			e, ok := m.(ast.Expr)
			if !ok || p.ownValue(e) == nil {
				_, inner := m.(*ast.BlockStmt)
				return !inner
			}
			row := of(e)
			if row.has {
				own = row
			}
			if v != nil && e == value {
				made[v] = row
			}
			return false
		})
		if v != nil && p.ownValue(value) == nil {
			delete(made, v)
		}
	}
	if own == nil {
		return 0
	}
	return own.n
}

// ownValue is an expression as a call of context.WithValue whose key has a type of this package, or a basic one; nil for
// another.
func (p Place) ownValue(e ast.Expr) *ast.CallExpr {
	c := p.call(e, "context.WithValue")
	if c == nil || len(p.Path) == 0 {
		return nil
	}
	key := types.Unalias(p.Info.TypeOf(c.Args[1]))
	if at, ok := key.(*types.Pointer); ok {
		key = types.Unalias(at.Elem())
	}
	if n, ok := key.(*types.Named); ok && n.Obj().Pkg() != nil {
		fn, ok := p.Path[0].(*ast.FuncDecl)
		if !ok || p.Info.Defs[fn.Name] == nil || n.Obj().Pkg() != p.Info.Defs[fn.Name].Pkg() {
			return nil
		}
	}
	return c
}

// ForFunctions names the type of the options that are handed the address of the expression's variable: function values, or
// values of an interface, in the function's last parameter, over which it ranges. Beside that, the function only gets at
// the variable's fields, or returns its value. It is "" for another expression.
func (p Place) ForFunctions() (name string) {
	fn, v := p.Body(), p.holder()
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
		case *ast.SelectorExpr:
			if s := p.Info.Selections[outer]; s != nil && s.Kind() == types.FieldVal {
				return
			}
		case *ast.StarExpr:
			return
		case *ast.ReturnStmt:
			if _, pointer := p.Info.TypeOf(e).Underlying().(*types.Pointer); !pointer {
				return
			}
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
		return ok && r.Value != nil && p.Variable(r.Value) == p.Variable(id) && p.Variable(r.X) == p.Info.Defs[last.Names[0]]
	})
}
