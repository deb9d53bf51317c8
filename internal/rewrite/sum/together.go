package sum

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AddAtOnce puts what statements in a row add to a string into one sum: each of them copies all that is there.
func AddAtOnce(on *code.Site) []code.Edit {
	s := &site{on}
	assign, ok := s.Cur.Node().(*ast.AssignStmt)
	stmt, listed := code.Statement(s.Cur)
	fn, body := code.Function(s.Cur)
	if !ok || !listed || body == nil || stmt.Node() != ast.Node(assign) || len(assign.Lhs) != 1 {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	if v == nil || !code.IsString(v.Type()) || s.seenElsewhere(v) {
		return nil
	}
	row := s.row(assign, v)
	var parts []ast.Expr
	copies := 0
	for _, a := range row {
		sum := concatenated(a.Rhs[0])
		if a.Tok == token.ADD_ASSIGN || len(sum) > 1 {
			copies++
		}
		parts = append(parts, sum...)
		if s.namesVar(a.Rhs[0], v) {
			return nil
		}
	}
	first, last := row[0], row[len(row)-1]
	if copies < 2 || !s.inOrder(parts, fn) || s.between(first, last) {
		return nil
	}
	text := s.Source(first.Lhs[0]) + " " + first.Tok.String() + " " + s.sumOf(parts)
	return []code.Edit{{Text: fmt.Sprintf("add to `%s` at once", v.Name()), Changes: []code.Change{
		{From: s.Offset(first.Pos()), To: s.Offset(last.End()), Text: text}}}}
}

// row are the statements around one of them that follow each other, set a string or define it, and add to it.
func (s *site) row(one *ast.AssignStmt, v *types.Var) []*ast.AssignStmt {
	list := statements(s.Cur.Parent().Node())
	at := slices.Index(list, ast.Stmt(one))
	if at < 0 {
		return nil
	}
	sets := func(i int, add bool) *ast.AssignStmt {
		a, ok := list[i].(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || s.Local(a.Lhs[0]) != v || add != (a.Tok == token.ADD_ASSIGN) {
			return nil
		}
		return a
	}
	for at > 0 && sets(at, true) != nil {
		at--
	}
	if sets(at, true) == nil && sets(at, false) == nil {
		at++
	}
	row := []*ast.AssignStmt{list[at].(*ast.AssignStmt)}
	for at++; at < len(list) && sets(at, true) != nil; at++ {
		row = append(row, sets(at, true))
	}
	return row
}

// statements is the list that a node holds.
func statements(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}

// seenElsewhere reports whether somebody may look at a string between two statements: a closure, a pointer, or what is
// deferred, where it is a result.
func (s *site) seenElsewhere(v *types.Var) bool {
	fn, body := code.Function(s.Cur)
	for _, u := range s.Uses(v, fn) {
		if n, ok := u.Parent().Node().(*ast.UnaryExpr); !code.Within(u, fn) || ok && n.Op == token.AND {
			return true
		}
	}
	if _, results := code.Signature(fn); results == nil || v.Pos() < results.Pos() || results.End() <= v.Pos() {
		return false
	}
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		_, defers := n.(*ast.DeferStmt)
		found = found || defers
		return !found
	})
	return found
}

// namesVar reports whether an expression names a variable.
func (s *site) namesVar(e ast.Expr, v *types.Var) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && s.Info().Uses[id] == types.Object(v)
		return !found
	})
	return found
}

// inOrder reports whether a sum reads the same as its parts one by one. Its calls happen in order; what else it reads may
// be read after them, so it must be nothing that they can change.
func (s *site) inOrder(parts []ast.Expr, fn inspector.Cursor) bool {
	end := parts[len(parts)-1].End()
	return !slices.ContainsFunc(parts, func(part ast.Expr) bool {
		if call, ok := ast.Unparen(part).(*ast.CallExpr); ok && !s.Info().Types[call.Fun].IsType() {
			return false
		}
		if v := s.Local(part); v != nil {
			return slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool { return !code.Within(u, fn) })
		}
		return s.Changed(part, fn.Node(), part.Pos(), end)
	})
}

// sumOf is the sum of parts, in lines of a common length. A first part that is empty is left out.
func (s *site) sumOf(parts []ast.Expr) string {
	if text, is := s.ConstString(parts[0]); is && text == "" {
		parts = parts[1:]
	}
	list := make([]string, len(parts))
	for i, part := range parts {
		list[i] = s.Source(part)
	}
	return inLines(list)
}
