package branch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// LookedUp makes a string of bytes where it is kept only: a map that is asked for it, and a comparison, take it
// without a copy if it is made on the spot.
func LookedUp(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !code.IsString(s.Info().TypeOf(conv)) ||
		!code.IsBytes(s.Info().TypeOf(conv.Args[0])) || !s.Pure(conv.Args[0]) {
		return nil
	}
	v, stmt := s.Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || s.Commented(stmt.Node()) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("make `%s` a string where it is kept only", code.Brief(s.Source(conv.Args[0]))), Changes: []code.Change{s.Replace(stmt.Node(), "")}}
	var kept []inspector.Cursor
	asked := 0
	last := token.NoPos
	for _, u := range s.Uses(v, fn)[1:] {
		switch {
		case !code.Within(u, fn) || changed(u):
			return nil
		case s.OnlyAsked(u):
			if s.Lookup(s.RootOf(conv.Args[0]).Name(), u.Node().Pos()) != s.RootOf(conv.Args[0]) {
				return nil
			}
			asked++
			e.Changes = append(e.Changes, s.Replace(u.Node(), s.Source(conv)))
		default:
			kept = append(kept, u)
		}
		last = u.Node().End()
	}
	if asked == 0 {
		return nil
	}
	if len(kept) > 0 {
		before, ok := sunk(stmt.Parent().Node(), kept)
		if !ok {
			return nil
		}
		for _, at := range before {
			if !s.sameNames(conv.Args[0], at.Node()) || s.Lookup(v.Name(), at.Node().Pos()) != types.Object(v) || s.changedAt(at, e.Changes) {
				return nil
			}
			e.Changes = append(e.Changes, s.Before(at.Node(), s.Source(stmt.Node())))
		}
	}
	if s.Changed(conv.Args[0], body, stmt.Node().End(), last) {
		return nil
	}
	e.Open = fmt.Sprintf("nothing may write to `%s` before it is asked for the last time", s.Source(conv.Args[0]))
	return []code.Edit{e}
}

// changedAt reports whether a change begins where a statement does.
func (s *site) changedAt(at inspector.Cursor, changes []code.Change) bool {
	from := s.Offset(at.Node().Pos())
	return slices.ContainsFunc(changes, func(c code.Change) bool { return c.From == from })
}
