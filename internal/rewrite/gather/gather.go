// Package gather has the edits that put slices together by the functions of package slices: of what an
// iterator yields, and of the elements of others.
package gather

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

type site struct{ *code.Site }

// WithSize gives the slice of a map's keys or values, or of another slice's elements, its size.
// It stays nil where there are none.
func WithSize(s *code.Site) []code.Edit {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return nil
	}
	seq, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if !ok || len(seq.Args) != 1 || !s.Pure(seq.Args[0]) ||
		!slices.Contains([]string{"maps.Keys", "maps.Values", "slices.Values"}, s.Callee(seq)) {
		return nil
	}
	typ := s.TypeText(s.Info().TypeOf(call))
	pkg, _, ok := s.Use("slices", call.Pos())
	if typ == "" || !ok {
		return nil
	}
	size := fmt.Sprintf("len(%s)", s.Source(seq.Args[0]))
	grown := fmt.Sprintf("%s.AppendSeq(%[1]s.Grow(%s(nil), %s), %s)", pkg, typ, size, s.Source(seq))
	e := code.Edit{Text: "append what the iterator yields to a slice with room for " + code.Brief(size)}
	switch s.Callee(call) {
	case "slices.Collect":
		e.Changes = []code.Change{s.Replace(call, grown)}
	case "slices.Sorted":
		e.Changes = sorted(s, call, pkg, grown)
	}
	if e.Changes == nil {
		return nil
	}
	return []code.Edit{e}
}

// sorted makes and sorts the slice in statements of their own: before a return or a loop, which
// evaluate nothing else first, or in place of what gives a variable its value.
func sorted(s *code.Site, call *ast.CallExpr, pkg, grown string) []code.Change {
	stmt, listed := code.Statement(s.Cur)
	if !listed {
		return nil
	}
	switch n := stmt.Node().(type) {
	case *ast.AssignStmt:
		if id, ok := n.Lhs[0].(*ast.Ident); ok && len(n.Lhs) == 1 && n.Rhs[0] == ast.Expr(call) && s.Local(id) != nil && n.Tok != token.ADD_ASSIGN {
			return []code.Change{s.Replace(call, grown), s.After(n, fmt.Sprintf("%s.Sort(%s)", pkg, id.Name))}
		}
		return nil
	case *ast.ReturnStmt:
		if len(n.Results) != 1 || n.Results[0] != ast.Expr(call) {
			return nil
		}
	case *ast.RangeStmt:
		if s.Cur.ParentEdgeKind() != edge.RangeStmt_X || s.Cur.Parent().Node() != ast.Node(n) {
			return nil
		}
	default:
		return nil
	}
	name := s.Fresh("sorted", call.Pos())
	return []code.Change{s.Before(stmt.Node(), fmt.Sprintf("%s := %s", name, grown), fmt.Sprintf("%s.Sort(%s)", pkg, name)), s.Replace(call, name)}
}
