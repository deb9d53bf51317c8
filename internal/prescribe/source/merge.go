package source

import (
	"go/ast"
	"go/types"
)

// Merges reports whether the function around the line calls itself for a map or slice that it only copies into its
// own, the one that grows on the line: each level of the recursion then makes one, and copies those below.
func (l *Line) Merges(d *Dest) bool {
	if l == nil || d == nil || l.Func.decl == nil || l.Func.Literal {
		return false
	}
	self, ok := l.Info().Defs[l.Func.decl.Name].(*types.Func)
	if !ok {
		return false
	}
	recursive := func(e ast.Expr) bool {
		if t, ok := ast.Unparen(e).(*ast.TypeAssertExpr); ok {
			e = t.X
		}
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		return ok && l.named(call.Fun) == self
	}
	// Variables that hold such a result.
	results := map[types.Object]bool{}
	ast.Inspect(l.Func.body, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) != 1 || !recursive(a.Rhs[0]) {
			return true
		}
		for _, lhs := range a.Lhs {
			if id, ok := lhs.(*ast.Ident); ok && l.Info().Defs[id] != nil {
				results[l.Info().Defs[id]] = true
			}
		}
		return true
	})
	from := func(e ast.Expr) bool {
		id, ok := ast.Unparen(e).(*ast.Ident)
		return recursive(e) || ok && results[l.Info().Uses[id]] && l.usedOnce(l.Info().Uses[id])
	}
	found := false
	ast.Inspect(l.Func.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			found = found || from(n.X) && l.copiesEach(n, d)
		case *ast.CallExpr:
			if len(n.Args) == 2 && (l.builtin(n) == "append" && n.Ellipsis.IsValid() || l.callee(n) == "maps.Copy") {
				found = found || l.text(n.Args[0]) == d.Name && from(n.Args[1])
			}
		}
		return !found
	})
	return found
}

// usedOnce reports whether the function reads a variable in one place.
func (l *Line) usedOnce(v types.Object) bool {
	n := 0
	ast.Inspect(l.Func.body, func(x ast.Node) bool {
		if id, ok := x.(*ast.Ident); ok && l.Info().Uses[id] == v {
			n++
		}
		return true
	})
	return n == 1
}

// copiesEach reports whether a loop does nothing but put each key and value into what grows.
func (l *Line) copiesEach(n *ast.RangeStmt, d *Dest) bool {
	if len(n.Body.List) != 1 || n.Key == nil {
		return false
	}
	a, ok := n.Body.List[0].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
		return false
	}
	switch lhs := ast.Unparen(a.Lhs[0]).(type) {
	case *ast.IndexExpr: // out[k] = v
		return n.Value != nil && l.text(lhs.X) == d.Name && l.text(lhs.Index) == l.text(n.Key) && l.text(a.Rhs[0]) == l.text(n.Value)
	case *ast.Ident: // out = append(out, v)
		call, ok := ast.Unparen(a.Rhs[0]).(*ast.CallExpr)
		return ok && n.Value != nil && lhs.Name == d.Name && l.builtin(call) == "append" && len(call.Args) == 2 &&
			l.text(call.Args[0]) == d.Name && l.text(call.Args[1]) == l.text(n.Value)
	}
	return false
}
