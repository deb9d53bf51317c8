package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Skips reports whether a turn of a loop may end without what stands at a place, or the loop before its last turn with
// what grew until then: by continue, break, goto, a return of what grows, or a change of the counter.
func Skips(loop ast.Node, at token.Pos, grows func(ast.Expr) bool) bool {
	body, counters := bodyOf(loop)
	found := false
	var look func(n ast.Node, inner bool)
	look = func(n ast.Node, inner bool) {
		ast.Inspect(n, func(m ast.Node) bool {
			switch m := m.(type) {
			case *ast.FuncLit:
				return false
			case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
				if m != n {
					look(m, true)
					return false
				}
			case *ast.BranchStmt:
				ends := m.Tok == token.CONTINUE && m.Pos() < at || m.Tok == token.BREAK && !inner || m.Tok == token.GOTO || m.Label != nil
				found = found || ends
			case *ast.ReturnStmt:
				found = found || len(m.Results) == 0 || slices.ContainsFunc(m.Results, func(e ast.Expr) bool { return names(e, grows) })
			case *ast.AssignStmt:
				found = found || slices.ContainsFunc(m.Lhs, func(e ast.Expr) bool { return slices.Contains(counters, types.ExprString(e)) })
			case *ast.IncDecStmt:
				found = found || slices.Contains(counters, types.ExprString(m.X))
			}
			return !found
		})
	}
	look(body, false)
	return found
}

// bodyOf is the body of a loop, and the names of the variables that it counts with.
func bodyOf(loop ast.Node) (body *ast.BlockStmt, counters []string) {
	switch n := loop.(type) {
	case *ast.RangeStmt:
		return n.Body, nil
	case *ast.ForStmt:
		if a, ok := n.Init.(*ast.AssignStmt); ok {
			for _, to := range a.Lhs {
				counters = append(counters, types.ExprString(to))
			}
		}
		return n.Body, counters
	}
	return &ast.BlockStmt{}, nil
}

func names(e ast.Expr, of func(ast.Expr) bool) (yes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		x, ok := n.(ast.Expr)
		yes = yes || ok && of(x)
		return !yes
	})
	return yes
}

// KeysComeAgain reports whether a statement changes entries of a map that are there: it counts with them, or adds to them.
func KeysComeAgain(s ast.Node) bool {
	switch s := s.(type) {
	case *ast.IncDecStmt:
		return true
	case *ast.AssignStmt:
		entry, ok := s.Lhs[0].(*ast.IndexExpr)
		return ok && (s.Tok != token.ASSIGN || len(s.Rhs) == 1 && strings.Contains(types.ExprString(s.Rhs[0]), types.ExprString(entry)))
	}
	return false
}
