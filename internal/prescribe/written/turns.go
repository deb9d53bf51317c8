package written

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// replacers are functions that copy a text or bytes with all that they replace.
var replacers = []string{"strings.Replace", "strings.ReplaceAll", "bytes.Replace", "bytes.ReplaceAll"}

// replacedInTurns is the text or bytes, declared outside a loop, in whose place each turn puts a copy with replacements of
// its own; "" for others.
func replacedInTurns(p idiom.Place) string {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(p.Path) == 0 || !slices.Contains(replacers, calleeName(p, c)) {
		return ""
	}
	set, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	text := types.ExprString(c.Args[0])
	if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || types.ExprString(set.Lhs[0]) != text {
		return ""
	}
	for _, around := range slices.Backward(p.Path) {
		switch loop := around.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			if v := rootOf(p, c.Args[0]); v != nil && v.Pos() < loop.Pos() {
				if !slices.ContainsFunc(c.Args[1:], func(e ast.Expr) bool { return declaredIn(p, loop, e) }) {
					return ""
				}
				return text
			}
		case *ast.FuncLit:
			return ""
		}
	}
	return ""
}

// rootOf is the variable that a variable or field belongs to; nil for other expressions.
func rootOf(p idiom.Place, e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return p.Variable(e)
	case *ast.SelectorExpr:
		return rootOf(p, e.X)
	}
	return nil
}

// declaredIn reports whether an expression has a variable that is declared in a node.
func declaredIn(p idiom.Place, n ast.Node, e ast.Expr) (yes bool) {
	ast.Inspect(e, func(m ast.Node) bool {
		if id, ok := m.(*ast.Ident); ok {
			v := p.Info.Uses[id]
			yes = yes || v != nil && n.Pos() < v.Pos() && v.Pos() < n.End()
		}
		return !yes
	})
	return yes
}
