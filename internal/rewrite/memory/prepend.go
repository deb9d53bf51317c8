package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AppendAndReverse appends to a slice that a loop builds from its end, and turns it round behind the loop. A second edit also
// makes the slice with the capacity that the recording needed.
func AppendAndReverse(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Builtin(call, "append") == nil || !call.Ellipsis.IsValid() || len(call.Args) != 2 {
		return nil
	}
	front, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	stmt, listed := code.Statement(s.Cur)
	if !ok || !listed || len(front.Elts) == 0 {
		return nil
	}
	assign, ok := stmt.Node().(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || assign.Rhs[0] != ast.Expr(call) {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	loop, in := s.LoopAround()
	if v == nil || !in {
		return nil
	}
	list, alone := code.Statement(loop)
	if !alone || list != loop || s.Local(call.Args[1]) != v || !s.emptyBefore(v, loop) || labelled(loop.Node()) {
		return nil
	}
	for c := range loop.Preorder((*ast.Ident)(nil)) {
		id := c.Node().(*ast.Ident)
		if s.Info().ObjectOf(id) == types.Object(v) && ast.Node(id) != ast.Node(assign.Lhs[0]) && ast.Node(id) != ast.Unparen(call.Args[1]) {
			return nil // the loop looks at what there is
		}
	}
	var elems []string
	for _, e := range front.Elts {
		if _, keyed := e.(*ast.KeyValueExpr); keyed {
			return nil
		}
		text := s.Source(e)
		if lit, ok := e.(*ast.CompositeLit); ok && lit.Type == nil {
			elem := s.TypeText(v.Type().Underlying().(*types.Slice).Elem())
			if elem == "" || strings.HasPrefix(elem, "*") {
				return nil
			}
			text = elem + text
		}
		elems = append([]string{text}, elems...)
	}
	turned, imports := s.Reverse(v.Name(), loop.Node().Pos())
	e := code.Edit{Text: fmt.Sprintf("append to `%s`, and turn it round behind the loop", v.Name()), Imports: imports, Changes: []code.Change{
		s.Replace(call, fmt.Sprintf("append(%s, %s)", v.Name(), strings.Join(elems, ", "))),
		s.After(loop.Node(), turned)}}
	out := []code.Edit{e}
	for _, room := range s.reserveSeen(v) {
		out = append(out, code.Edit{Text: room.Text + ", " + e.Text, Open: room.Open, Imports: imports, Changes: slices.Concat(room.Changes, e.Changes)})
	}
	return out
}

// emptyBefore reports whether a slice is declared empty in the list of a loop, and nothing between the two names
// it.
func (s *site) emptyBefore(v *types.Var, loop inspector.Cursor) bool {
	for c, more := loop.PrevSibling(); more; c, more = c.PrevSibling() {
		if s.declaresEmpty(c.Node(), v) {
			return true
		}
		for id := range c.Preorder((*ast.Ident)(nil)) {
			if s.Info().ObjectOf(id.Node().(*ast.Ident)) == types.Object(v) {
				return false
			}
		}
	}
	return false
}

// labelled reports whether a loop has jumps to labels, which may pass by the statement behind it.
func labelled(loop ast.Node) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		found = found || ok && b.Label != nil
		return !found
	})
	return found
}
