package written

import (
	"go/ast"
	"go/token"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// copyOfOld names the variable behind a copy, if the statement that copies also replaces the variable, by a value made with
// the copy, or returns that value. In another place the function appends to the variable itself, so it may write to the
// array. "" for others.
func copyOfOld(p idiom.Place) string {
	whole, inCall := copiedWhole(p), false
	if c := p.Appends(p.Expr); whole == nil && c != nil {
		whole, inCall = p.Copied(c.Args[0]), true
	}
	of, ok := whole.(*ast.Ident)
	if !ok || p.Body() == nil {
		return ""
	}
	v := p.Variable(of)
	for i := len(p.Path) - 1; i >= 0 && v != nil; i-- {
		switch n := p.Path[i].(type) {
		case *ast.CallExpr:
			inCall = inCall || p.Info.Types[n.Fun].IsValue() || p.Appends(n) != nil
		case *ast.AssignStmt:
			if inCall && n.Tok == token.ASSIGN && len(n.Rhs) == 1 && p.Variable(n.Lhs[0]) == v && growsElsewhere(p, n, of.Name) {
				return of.Name
			}
			return ""
		case *ast.ReturnStmt:
			if inCall && growsElsewhere(p, n, of.Name) {
				return of.Name
			}
			return ""
		case ast.Expr:
		default:
			return ""
		}
	}
	return ""
}

// copiedWhole is what a place copies as a whole; nil for others.
func copiedWhole(p idiom.Place) ast.Expr {
	if of := p.Copied(p.Expr); of != nil {
		return ast.Unparen(of)
	}
	to, ok := p.Expr.(*ast.CallExpr)
	if !ok || !isBytes(p, to) || len(to.Args) != 1 || !p.Info.Types[to.Fun].IsType() {
		return nil
	}
	from, ok := ast.Unparen(to.Args[0]).(*ast.CallExpr)
	if !ok || len(from.Args) != 1 || !p.Info.Types[from.Fun].IsType() || !isBytes(p, from.Args[0]) {
		return nil
	}
	return ast.Unparen(from.Args[0])
}

func isBytes(p idiom.Place, e ast.Expr) bool { return p.Info.TypeOf(e).String() == bytesType }

const bytesType = "[]byte"

// growsElsewhere reports whether another statement of the function than one appends to a variable: it sets the variable to
// the result, or returns that.
func growsElsewhere(p idiom.Place, but ast.Stmt, name string) (yes bool) {
	appends := func(e ast.Expr) bool {
		c := p.Appends(e)
		if c == nil {
			return false
		}
		id, ok := ast.Unparen(c.Args[0]).(*ast.Ident)
		return ok && id.Name == name && p.Variable(id) != nil
	}
	ast.Inspect(p.Body(), func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if v, value := p.Set(s); v != nil && v.Name() == name && ast.Stmt(s) != but {
				yes = yes || appends(value)
			}
		case *ast.ReturnStmt:
			if len(s.Results) > 0 && ast.Stmt(s) != but {
				yes = yes || appends(s.Results[0])
			}
		}
		return !yes
	})
	return yes
}
