package gather

import (
	"fmt"
	"go/ast"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// InsertInPlace inserts elements into a slice, or puts them in place of others, without a second slice
// that holds them and what follows.
func InsertInPlace(on *code.Site) []code.Edit {
	s := &site{on}
	if s.Cur.ParentEdgeKind() == edge.CallExpr_Args { // the inner append, on a line of its own
		if call := s.Cur.Parent().Node().(*ast.CallExpr); s.Builtin(call, "append") != nil && s.Line(call.Pos()) != s.Line(s.Cur.Node().Pos()) {
			s = &site{&code.Site{File: s.File, Cur: s.Cur.Parent(), Place: s.Place}}
		}
	}
	outer, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Builtin(outer, "append") == nil || len(outer.Args) != 2 || !outer.Ellipsis.IsValid() || !s.Since("go1.21") {
		return nil
	}
	pkg, imports, ok := s.Use("slices", outer.Pos())
	if !ok {
		return nil
	}
	e := s.spliced(outer, pkg)
	if e.Text == "" {
		e = s.prepended(outer, pkg)
	}
	if e.Text == "" {
		return nil
	}
	e.Imports = imports
	return []code.Edit{e}
}

// spliced is the edit of append(s[:i], append(elements, s[j:]...)...); its text is empty for others.
func (s *site) spliced(outer *ast.CallExpr, pkg string) (e code.Edit) {
	head, ok := ast.Unparen(outer.Args[0]).(*ast.SliceExpr)
	inner, isCall := ast.Unparen(outer.Args[1]).(*ast.CallExpr)
	if !ok || !isCall || s.Builtin(inner, "append") == nil || len(inner.Args) != 2 || !inner.Ellipsis.IsValid() {
		return e
	}
	tail, ok := ast.Unparen(inner.Args[1]).(*ast.SliceExpr)
	if !ok || head.Low != nil || head.High == nil || head.Slice3 || tail.Low == nil || tail.High != nil ||
		s.Source(head.X) != s.Source(tail.X) || !s.Pure(head.X) || !s.steady(head.High) || !s.steady(tail.Low) {
		return e
	}
	list, at, from := s.Source(head.X), s.Source(head.High), s.Source(tail.Low)
	elements := s.elements(inner.Args[0])
	if at == from {
		e.Text = fmt.Sprintf("insert into `%s` by slices.Insert", list)
		e.Changes = []code.Change{s.Replace(outer, fmt.Sprintf("%s.Insert(%s, %s, %s)", pkg, list, at, elements))}
		return e
	}
	e.Text = fmt.Sprintf("put the elements into `%s` by slices.Replace", list)
	e.Open = fmt.Sprintf("nothing may read what lies behind the new end of `%s`", list)
	e.Changes = []code.Change{s.Replace(outer, fmt.Sprintf("%s.Replace(%s, %s, %s, %s)", pkg, list, at, from, elements))}
	return e
}

// steady reports whether an index is the same when it is evaluated twice.
func (s *site) steady(e ast.Expr) bool {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok {
		return s.steady(b.X) && s.steady(b.Y)
	}
	return s.Pure(e)
}

// elements are those of a slice as arguments.
func (s *site) elements(e ast.Expr) string {
	lit, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok || len(lit.Elts) == 0 {
		return s.Source(e) + "..."
	}
	var list []string
	for _, x := range lit.Elts {
		if part, ok := x.(*ast.CompositeLit); ok && part.Type == nil || s.isPair(x) {
			return s.Source(e) + "..."
		}
		list = append(list, s.Source(x))
	}
	return strings.Join(list, ", ")
}

func (s *site) isPair(e ast.Expr) bool {
	_, ok := e.(*ast.KeyValueExpr)
	return ok
}

// prepended is the edit of v = append([]T{x}, v...); its text is empty for others.
func (s *site) prepended(outer *ast.CallExpr, pkg string) (e code.Edit) {
	lit, ok := ast.Unparen(outer.Args[0]).(*ast.CompositeLit)
	v := s.Local(outer.Args[1])
	if !ok || v == nil || len(lit.Elts) == 0 || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return e
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || s.Local(assign.Lhs[0]) != v {
		return e
	}
	elements := s.elements(lit)
	if strings.HasSuffix(elements, "...") {
		return e
	}
	fn, _ := code.Function(s.Cur)
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) || !s.ownUse(u) {
			e.Open = fmt.Sprintf("no other slice may share the memory of `%s`", v.Name())
		}
	}
	e.Text = fmt.Sprintf("insert in front of `%s` by slices.Insert", v.Name())
	e.Changes = []code.Change{s.Replace(outer, fmt.Sprintf("%s.Insert(%s, 0, %s)", pkg, v.Name(), elements))}
	return e
}

// ownUse reports whether a use of a slice lets nobody else share its memory while the function goes on:
// its declaration without a value, its own change, a look at it, and its return.
func (s *site) ownUse(u inspector.Cursor) bool {
	switch u.ParentEdgeKind() {
	case edge.ValueSpec_Names:
		return len(u.Parent().Node().(*ast.ValueSpec).Values) == 0
	case edge.AssignStmt_Lhs, edge.ReturnStmt_Results, edge.RangeStmt_X:
		return u.ParentEdgeKind() != edge.AssignStmt_Lhs || u.Parent().Node() == s.Cur.Parent().Node()
	case edge.IndexExpr_X:
		return u.Parent().ParentEdgeKind() != edge.UnaryExpr_X
	case edge.CallExpr_Args:
		return u.Parent().Node() == s.Cur.Node() || s.Builtin(u.Parent().Node().(ast.Expr), "len") != nil
	}
	return false
}
