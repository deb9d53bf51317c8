package written

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// encodedByLine is the writer to which a loop writes each value that json.Marshal encodes, with the end of a line behind it; ""
// for others. The bytes are used for nothing else.
func encodedByLine(p idiom.Place) (writer string) {
	c, ok := p.Expr.(*ast.CallExpr)
	loop := loopAround(p)
	if !ok || loop == nil || len(p.Path) == 0 || calleeName(p, c) != "encoding/json.Marshal" {
		return ""
	}
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE || len(a.Lhs) != 2 {
		return ""
	}
	v := p.Info.Defs[identOf(a.Lhs[0])]
	if v == nil {
		return ""
	}
	ends, uses, known := false, 0, 0
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if p.Info.Uses[n] == v {
				uses++
			}
		case *ast.CallExpr:
			to, line, named := lineWritten(p, n, v)
			ends = ends || line
			if known += named; to != nil && rootOf(p, to) != nil && rootOf(p, to).Pos() < loop.Pos() {
				writer = types.ExprString(to)
			}
		case *ast.AssignStmt:
			if len(n.Lhs) == 1 && p.Variable(n.Lhs[0]) == v && p.Appends(n.Rhs[0]) != nil {
				known++ // it is set to what is appended to it
			}
		}
		return true
	})
	if !ends || uses != known {
		return ""
	}
	return writer
}

// lineWritten is the writer that a call writes a variable to, whether the call adds the end of a line, and how often it names the
// variable.
func lineWritten(p idiom.Place, c *ast.CallExpr, v types.Object) (to ast.Expr, line bool, names int) {
	sel, method := c.Fun.(*ast.SelectorExpr)
	switch {
	case p.Appends(c) != nil && p.Variable(c.Args[0]) == v && len(c.Args) == 2 && isLiteral(c.Args[1], `'\n'`):
		return nil, true, 1
	case method && sel.Sel.Name == "Write" && len(c.Args) == 1 && p.Variable(c.Args[0]) == v:
		return sel.X, false, 1
	case calleeName(p, c) == "fmt.Fprintf" && len(c.Args) == 3 && isLiteral(c.Args[1], `"%s\n"`) && p.Variable(c.Args[2]) == v:
		return c.Args[0], true, 1
	}
	return nil, false, 0
}

// isLiteral reports whether an expression is a literal with a text.
func isLiteral(e ast.Expr, text string) bool {
	lit, ok := ast.Unparen(e).(*ast.BasicLit)
	return ok && lit.Value == text
}
