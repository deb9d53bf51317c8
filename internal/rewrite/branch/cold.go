package branch

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CopyWhereKept copies a variable in the branches that keep its address, or have a function literal that reads it, so
// that it stays on the stack where none of them runs.
func CopyWhereKept(on *code.Site) []code.Edit {
	s := &site{on}
	id, ok := s.Cur.Node().(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := s.Info().Defs[id].(*types.Var)
	fn, body := code.Function(s.Cur)
	if !ok || body == nil || v.IsField() {
		return nil
	}
	decl := s.scopeOf(v, fn)
	if decl == nil {
		return nil
	}
	k := keeps{of: s, v: v, fn: fn}
	for _, u := range s.Uses(v, fn) {
		if u.Node() != ast.Node(id) && !k.add(u) {
			return nil
		}
	}
	if len(k.at) == 0 || k.at[0].closure && !k.changes {
		return nil
	}
	return k.copies(decl)
}

// addressed reports whether the address of a variable is taken, also by a method call.
func (s *site) addressed(u inspector.Cursor) bool {
	for u.ParentEdgeKind() == edge.ParenExpr_X {
		u = u.Parent()
	}
	if u.ParentEdgeKind() == edge.SelectorExpr_X {
		sel := u.Parent()
		if m := s.Info().Selections[sel.Node().(*ast.SelectorExpr)]; m != nil && m.Kind() == types.MethodVal {
			_, pointer := m.Obj().(*types.Func).Signature().Recv().Type().Underlying().(*types.Pointer)
			_, already := m.Recv().Underlying().(*types.Pointer)
			return pointer && !already
		}
		return s.addressed(sel)
	}
	return u.ParentEdgeKind() == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND
}

// partAssigned reports whether a field or an element of a variable is assigned to.
func (s *site) partAssigned(u inspector.Cursor) bool {
	for {
		switch u.ParentEdgeKind() {
		case edge.SelectorExpr_X, edge.IndexExpr_X, edge.ParenExpr_X:
			u = u.Parent()
		case edge.AssignStmt_Lhs, edge.IncDecStmt_X:
			return true
		case edge.SliceExpr_X:
			_, array := s.Info().TypeOf(u.Node().(ast.Expr)).Underlying().(*types.Array)
			return array // its memory is taken
		default:
			return false
		}
	}
}

// scopeOf is the block that a variable is declared in: that of its statement, or the function's for
// parameters and results; nil for others.
func (s *site) scopeOf(v *types.Var, fn inspector.Cursor) ast.Node {
	if _, results := code.Signature(fn); results != nil && results.Pos() <= v.Pos() && v.Pos() < results.End() {
		return nil
	}
	_, body := code.Function(s.Cur)
	if v.Pos() < body.Pos() {
		return body
	}
	switch s.Cur.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.ValueSpec_Names:
		if stmt, listed := code.Statement(s.Cur); listed {
			return stmt.Parent().Node()
		}
	case edge.RangeStmt_Key, edge.RangeStmt_Value:
		return s.Cur.Parent().Node().(*ast.RangeStmt).Body
	}
	return nil
}

// loopBetween reports whether a loop lies between a statement and a block around it.
func (s *site) loopBetween(at inspector.Cursor, block ast.Node) bool {
	for c := range at.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if c.Node().Pos() > block.Pos() && c.Node().End() < block.End() {
			return true
		}
	}
	return false
}

// leavesAfter reports whether a statement, or the list that it stands in, ends with leaving the function.
func (s *site) leavesAfter(at inspector.Cursor) bool {
	var list []ast.Stmt
	switch n := at.Parent().Node().(type) {
	case *ast.BlockStmt:
		list = n.List
	case *ast.CaseClause:
		list = n.Body
	case *ast.CommClause:
		list = n.Body
	}
	if len(list) == 0 {
		return false
	}
	_, ok := list[len(list)-1].(*ast.ReturnStmt)
	return ok
}
