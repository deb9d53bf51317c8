package written

import (
	"go/ast"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// FewParts reports whether a call writes to a builder of the function that gets a few parts, one statement after the
// other, and is asked for its text once: an expression that adds them is the same text.
func FewParts(p idiom.Place) bool {
	call, ok := p.Expr.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	v := p.Variable(sel.X)
	if v == nil || p.Body() == nil || v.Type().String() != "strings.Builder" {
		return false
	}
	parts, asked, other := 0, 0, 0
	method := func(e ast.Expr) string { // of a call of one of the builder's methods
		c, ok := e.(*ast.CallExpr)
		if !ok {
			return ""
		}
		if s, ok := c.Fun.(*ast.SelectorExpr); ok && p.Variable(s.X) == v {
			return s.Sel.Name
		}
		return ""
	}
	var list []ast.Stmt
	ast.Inspect(p.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			if n.Pos() <= v.Pos() && v.Pos() < n.End() {
				list = n.List // the innermost one around its declaration
			}
		case *ast.CallExpr:
			if method(n) == "String" {
				asked++
			}
		case *ast.Ident:
			if p.Info.Uses[n] == v {
				other++
			}
		}
		return true
	})
	for _, s := range list {
		if e, ok := s.(*ast.ExprStmt); ok {
			switch method(e.X) {
			case "WriteString", "WriteByte", "WriteRune":
				parts++
			}
		}
	}
	return asked == 1 && parts > 1 && parts <= mostParts && other == parts+asked
}

// mostParts is up to how many parts an expression that adds them is easy to read.
const mostParts = 8
