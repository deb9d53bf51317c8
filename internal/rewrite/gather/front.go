package gather

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// FromEnd collects the characters that a loop puts in front of a text, each of which copies all of it, and makes the text once.
func FromEnd(on *code.Site) []code.Edit {
	s := &site{on}
	add, ok := s.Cur.Node().(*ast.BinaryExpr)
	stmt, listed := code.Statement(s.Cur)
	if !ok || !listed || add.Op != token.ADD {
		return nil
	}
	assign, ok := stmt.Node().(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || assign.Rhs[0] != ast.Expr(add) {
		return nil
	}
	v, char := s.Local(assign.Lhs[0]), s.Character(add.X)
	loop := s.loopAround(stmt)
	if v == nil || s.Local(add.Y) != v || char == "" || !loop.Valid() || v.Type() != types.Typ[types.String] {
		return nil
	}
	if around, inList := code.Statement(loop); !inList || around != loop || s.within(v, loop, add, assign) {
		return nil
	}
	name := v.Name()
	array, runes := s.Fresh(name+"Array", loop.Node().Pos()), s.Fresh(name+"Runes", loop.Node().Pos())
	turned, imports := s.Reverse(runes, loop.Node().Pos())
	return []code.Edit{{Text: fmt.Sprintf("collect the characters of `%s`, and make the text once", name), Imports: imports, Changes: []code.Change{
		s.Before(loop.Node(), fmt.Sprintf("var %s [32]rune", array), fmt.Sprintf("%s := %s[:0]", runes, array)),
		s.Replace(assign, fmt.Sprintf("%s = append(%[1]s, %[2]s)", runes, char)),
		s.After(loop.Node(), turned, fmt.Sprintf("%s = string(%s) + %[1]s", name, runes))}}}
}

// loopAround is the innermost loop around a statement, in its function.
func (s *site) loopAround(stmt inspector.Cursor) inspector.Cursor {
	for c := stmt.Parent(); c.Node() != nil; c = c.Parent() {
		switch c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			return c
		case *ast.FuncLit, *ast.FuncDecl, *ast.File:
			return inspector.Cursor{}
		}
	}
	return inspector.Cursor{}
}

// within reports whether a loop asks for a text other than to put characters in front of it, or may leave it in another way than
// by its end: then the text has to be whole. The same holds where a function literal or an address knows the text.
func (s *site) within(v *types.Var, loop inspector.Cursor, add *ast.BinaryExpr, assign *ast.AssignStmt) bool {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return true
	}
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() == edge.UnaryExpr_X || !code.Within(u, fn) {
			return true
		}
		known := u.Node() == ast.Node(add.Y) || u.Node() == ast.Node(assign.Lhs[0])
		if !known && u.Node().Pos() >= loop.Node().Pos() && u.Node().End() <= loop.Node().End() {
			return true
		}
	}
	leaves := false
	ast.Inspect(loop.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ReturnStmt:
			leaves = leaves || len(n.Results) == 0
		case *ast.BranchStmt:
			leaves = leaves || n.Label != nil
		case *ast.FuncLit:
			return false
		}
		return !leaves
	})
	return leaves
}
