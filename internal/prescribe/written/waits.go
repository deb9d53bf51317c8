package written

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// waitsForTime reports whether a function without parameters and results makes a timer, waits for it or for one other event,
// does what has to be done then, and nothing else.
func waitsForTime(p idiom.Place) bool {
	made, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(p.Path) == 0 {
		return false
	}
	name := calleeName(p, made)
	lit, ok := idiom.Within(p.Path)[0].(*ast.FuncLit)
	if !ok || len(lit.Type.Params.List) > 0 || lit.Type.Results != nil || name != "time.NewTimer" && name != "time.After" {
		return false
	}
	for i, s := range lit.Body.List {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE || len(s.Rhs) != 1 || s.Rhs[0] != ast.Expr(made) {
				return false
			}
		case *ast.DeferStmt:
			if calleeName(p, s.Call) != "(*time.Timer).Stop" {
				return false
			}
		case *ast.SelectStmt:
			return i == len(lit.Body.List)-1 && receives(s) == 2
		default:
			return false
		}
	}
	return false
}

// receives is how many cases a select statement has, if all of them receive; 0 for others.
func receives(s *ast.SelectStmt) int {
	for _, c := range s.Body.List {
		switch comm := c.(*ast.CommClause).Comm.(type) {
		case *ast.ExprStmt:
		case *ast.AssignStmt:
			if u, ok := comm.Rhs[0].(*ast.UnaryExpr); !ok || u.Op != token.ARROW {
				return 0
			}
		default:
			return 0
		}
	}
	return len(s.Body.List)
}

// calleeName is the full name of the function or method that a call names; "" for others.
func calleeName(p idiom.Place, c *ast.CallExpr) string {
	var id *ast.Ident
	switch fun := ast.Unparen(c.Fun).(type) {
	case *ast.Ident:
		id = fun
	case *ast.SelectorExpr:
		id = fun.Sel
	}
	if fn, ok := p.Info.Uses[id].(*types.Func); ok {
		return fn.FullName()
	}
	return ""
}
