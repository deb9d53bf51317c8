package written

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// fromNil is a local slice that is nil in each call of the function, where a call grows it that is named so that it appends to
// it: the slice is emptied for each such call, or a loop makes it. "" for others.
func fromNil(p idiom.Place) string {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(p.Path) == 0 || len(c.Args) == 0 || p.Body() == nil {
		return ""
	}
	name := calleeName(p, c)
	set, ok := p.Path[len(p.Path)-1].(*ast.AssignStmt)
	if !ok || !strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], "Append") || len(set.Lhs) != len(set.Rhs) {
		return ""
	}
	v := p.Variable(set.Lhs[slices.Index(set.Rhs, ast.Expr(c))])
	if v == nil || emptied(c.Args[0]) == nil || p.Variable(emptied(c.Args[0])) != v || v.Pos() < p.Body().Pos() || v.Pos() > p.Body().End() {
		return ""
	}
	nothing := false
	ast.Inspect(p.Body(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if at := slices.IndexFunc(n.Names, func(id *ast.Ident) bool { return p.Info.Defs[id] == v }); at >= 0 {
				nothing = len(n.Values) == 0
			}
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				if p.Variable(to) == v && (len(n.Lhs) != len(n.Rhs) || !grownOf(p, n.Rhs[i], v)) {
					v = nil // another slice
					return false
				}
			}
		}
		return v != nil
	})
	if v == nil || !nothing {
		return ""
	}
	return v.Name()
}

// emptied is the slice that an expression cuts to no length; nil for others.
func emptied(e ast.Expr) ast.Expr {
	s, ok := ast.Unparen(e).(*ast.SliceExpr)
	if !ok || s.Low != nil || s.Slice3 {
		return nil
	}
	if zero, ok := s.High.(*ast.BasicLit); !ok || zero.Kind != token.INT || zero.Value != "0" {
		return nil
	}
	return s.X
}

// grownOf reports whether an expression appends to a variable's slice, or is a part of it.
func grownOf(p idiom.Place, e ast.Expr, v types.Object) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.SliceExpr:
		return p.Variable(e.X) == v
	case *ast.CallExpr:
		return len(e.Args) > 0 && (p.Variable(e.Args[0]) == v || emptied(e.Args[0]) != nil && p.Variable(emptied(e.Args[0])) == v)
	}
	return false
}
