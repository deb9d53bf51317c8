package branch

import (
	"fmt"
	"go/ast"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// BeforeLoop computes a text once before a loop, where each turn makes the same of what the loop does not change.
func BeforeLoop(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || !code.IsString(s.Info().TypeOf(call)) || s.Info().Types[call].Value != nil {
		return nil
	}
	open, ok := s.waits(call)
	if !ok || open != "" {
		return nil
	}
	loop, found := inspector.Cursor{}, false
	for c := range s.Cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil), (*ast.FuncDecl)(nil)) {
		if !s.turns(c) {
			break
		}
		n := c.Node()
		if s.DeclaredAfter(call, n.Pos()) || s.changes(call, n, n.Pos(), n.End()) {
			break
		}
		if stmt, listed := code.Statement(c); listed && stmt == c {
			loop, found = c, true
		}
	}
	if !found || !s.sameNames(call, loop.Node()) {
		return nil
	}
	ast.Inspect(call, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && s.ThroughPointer(sel) {
			open = fmt.Sprintf("`%s` must not be nil, also where the loop does not run", s.Source(sel.X))
		}
		return true
	})
	name := s.Fresh("same", call.Pos())
	return []code.Edit{{Open: open, Text: fmt.Sprintf("compute `%s` once, before the loop on line %d", code.Brief(s.Source(call)), s.Line(loop.Node().Pos())),
		Changes: []code.Change{s.Before(loop.Node(), fmt.Sprintf("%s := %s", name, s.Source(call))), s.Replace(call, name)}}}
}

// turns reports whether a node is a loop that evaluates the site in each turn, not only once before.
func (s *site) turns(c inspector.Cursor) bool {
	switch n := c.Node().(type) {
	case *ast.RangeStmt:
		return n.Body.Pos() <= s.Cur.Node().Pos()
	case *ast.ForStmt:
		for at := s.Cur; at != c; at = at.Parent() {
			if at.ParentEdgeKind() == edge.ForStmt_Init {
				return false
			}
		}
		return true
	}
	return false
}
