package branch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// asElse makes the value of a variable in the branch that another does not take, where a condition puts
// something else in its place before anybody uses it.
func (s *site) asElse(e ast.Expr, v *types.Var, stmt inspector.Cursor, open string) []code.Edit {
	fn, body := code.Function(s.Cur)
	typ := s.TypeText(v.Type())
	guard := s.firstUse(v, stmt)
	if guard == nil || typ == "" || s.captured(v, fn) || s.changes(e, body, stmt.Node().End(), guard.Pos()) || !s.sameNames(e, guard) {
		return nil
	}
	set := false
	for _, n := range guard.Body.List {
		if assign, ok := n.(*ast.AssignStmt); ok && len(assign.Lhs) == 1 && assign.Tok == token.ASSIGN && s.Local(assign.Lhs[0]) == v &&
			!s.names(assign.Rhs[0], v) {
			set = true
			break
		}
		if s.names(n, v) {
			return nil
		}
	}
	if !set || slices.ContainsFunc(guard.Body.List, jumps) {
		return nil
	}
	otherwise := fmt.Sprintf(" else {\n%s = %s\n}", v.Name(), s.Source(e))
	return []code.Edit{{Text: fmt.Sprintf("make `%s` on line %d, where nothing else takes its place", v.Name(), s.Line(guard.End())), Open: open,
		Changes: []code.Change{s.Replace(stmt.Node(), fmt.Sprintf("var %s %s", v.Name(), typ)), s.Insert(s.Offset(guard.End()), otherwise)}}}
}

// firstUse is the statement behind another that names a variable first, if it is a condition without an else
// that does not ask for the variable; nil for others.
func (s *site) firstUse(v *types.Var, stmt inspector.Cursor) *ast.IfStmt {
	for c, ok := stmt.NextSibling(); ok; c, ok = c.NextSibling() {
		if !s.names(c.Node(), v) {
			continue
		}
		guard, ok := c.Node().(*ast.IfStmt)
		if !ok || guard.Else != nil || guard.Init != nil || s.names(guard.Cond, v) {
			return nil
		}
		return guard
	}
	return nil
}

// names reports whether code names a variable.
func (s *site) names(n ast.Node, v *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && s.Info().ObjectOf(id) == types.Object(v)
		return !found
	})
	return found
}

// captured reports whether a literal of the function names a variable, or its address is taken.
func (s *site) captured(v *types.Var, fn inspector.Cursor) bool {
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) || u.ParentEdgeKind() == edge.UnaryExpr_X && u.Parent().Node().(*ast.UnaryExpr).Op == token.AND {
			return true
		}
	}
	return false
}

// jumps reports whether a statement jumps to a label: what is behind it in its list may be skipped then.
func jumps(n ast.Stmt) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			found = found || n.Label != nil
		case *ast.LabeledStmt:
			found = true
		}
		return !found
	})
	return found
}
