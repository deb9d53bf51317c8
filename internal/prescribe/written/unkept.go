package written

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// unkept is the field of an Unkept append; "" for others.
func unkept(p idiom.Place) string {
	field, _ := Unkept(p)
	if field == nil {
		return ""
	}
	return types.ExprString(field)
}

// Unkept is the field whose array an append begins with, at its length zero, where the function never sets the field to what
// the append makes: the field keeps the array that is too small. The variable is the one that gets the result; nil for none.
// The field is nil for others.
func Unkept(p idiom.Place) (field ast.Expr, v types.Object) {
	c, fn := p.Appends(p.Expr), p.Body()
	if c == nil || fn == nil {
		return nil, nil
	}
	from := emptied(c.Args[0])
	v = p.Variable(c.Args[0])
	switch {
	case from != nil && isField(p, from):
		v = p.Variable(resultOf(p, c))
	case v != nil && v.Pos() > fn.Pos() && v.Pos() < fn.End():
		if from = beginsWith(p, fn, v); from == nil {
			return nil, nil
		}
	default:
		return nil, nil
	}
	of := types.ExprString(from)
	kept := false
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				kept = kept || types.ExprString(to) == of
			}
		case *ast.ReturnStmt: // its caller may keep it
			for _, e := range n.Results {
				kept = kept || v != nil && p.Variable(e) == v || e == p.Expr
			}
		case *ast.UnaryExpr:
			kept = kept || n.Op == token.AND && (types.ExprString(n.X) == of || v != nil && p.Variable(n.X) == v)
		}
		return !kept
	})
	if kept {
		return nil, nil
	}
	return from, v
}

// isField reports whether an expression is a field of a variable, or of a field of one.
func isField(p idiom.Place, e ast.Expr) bool {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	return ok && p.Info.Selections[sel] != nil && rootOf(p, sel) != nil
}

// resultOf is what the statement around a call sets to its result; nil for none.
func resultOf(p idiom.Place, c *ast.CallExpr) ast.Expr {
	a, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || ast.Unparen(a.Rhs[0]) != ast.Expr(c) {
		return nil
	}
	return a.Lhs[0]
}

// beginsWith is the field that a variable is declared as the beginning of; nil for none. Each other statement that sets the
// variable has to append to it.
func beginsWith(p idiom.Place, fn *ast.BlockStmt, v types.Object) (field ast.Expr) {
	ok := true
	ast.Inspect(fn, func(n ast.Node) bool {
		a, is := n.(*ast.AssignStmt)
		if !is {
			return ok
		}
		for i, to := range a.Lhs {
			switch {
			case p.Variable(to) != v:
			case len(a.Lhs) != len(a.Rhs):
				ok = false
			case a.Tok == token.DEFINE && emptied(a.Rhs[i]) != nil && isField(p, emptied(a.Rhs[i])):
				field = emptied(a.Rhs[i])
			default:
				ok = ok && grownOf(p, a.Rhs[i], v)
			}
		}
		return ok
	})
	if !ok {
		return nil
	}
	return field
}
