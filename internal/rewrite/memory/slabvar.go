package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// SlabVariable makes a variable of a loop, whose address is kept in each turn, an element of one slice.
func SlabVariable(on *code.Site) []code.Edit {
	s := &site{on}
	id, ok := s.Cur.Node().(*ast.Ident)
	if !ok || s.Cur.ParentEdgeKind() != edge.ValueSpec_Names {
		return nil
	}
	v, ok := s.Info().Defs[id].(*types.Var)
	stmt, listed := code.Statement(s.Cur)
	loop, in := s.loopAround()
	if !ok || !listed || !in {
		return nil
	}
	decl, ok := stmt.Node().(*ast.DeclStmt)
	if !ok {
		return nil
	}
	spec := code.OnlySpec(decl)
	if spec == nil || len(spec.Names) != 1 || len(spec.Values) > 0 || spec.Type == nil || !composite(v.Type()) || s.NamesLocals(spec.Type) {
		return nil
	}
	t := s.Trips(loop.Node())
	list, ok := code.Statement(loop)
	if t.Text == "" || !ok || list != loop {
		return nil
	}
	changes, kept := s.pointed(v, loop)
	if !kept {
		return nil
	}
	slab := s.Fresh("slab", id.Pos())
	typeText := s.Source(spec.Type)
	open := fmt.Sprintf("one %s that is kept keeps all of them in memory", typeText)
	if t.Open != "" {
		open += "; " + t.Open
	}
	return []code.Edit{{Open: open, Text: fmt.Sprintf("make the %s of all turns in one slice of %s", typeText, t.Text),
		Changes: append(changes,
			s.Before(loop.Node(), fmt.Sprintf("%s := make([]%s, 0, %s)", slab, typeText, t.Text)),
			s.Replace(decl, fmt.Sprintf("%s = append(%[1]s, %s{})\n%s := &%[1]s[len(%[1]s)-1]", slab, typeText, v.Name())))}}
}

// composite reports whether a type is a struct or an array.
func composite(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// pointed are the changes that make a variable a pointer to what it was, in a loop. kept says that its
// address is taken, by an operator.
func (s *site) pointed(v *types.Var, loop inspector.Cursor) (changes []code.Change, kept bool) {
	for _, u := range s.Uses(v, loop)[1:] {
		switch u.ParentEdgeKind() {
		case edge.SelectorExpr_X, edge.SliceExpr_X, edge.IndexExpr_X:
		case edge.UnaryExpr_X:
			if n := u.Parent().Node().(*ast.UnaryExpr); n.Op == token.AND {
				kept = true
				changes = append(changes, s.Replace(n, v.Name()))
			}
		default:
			changes = append(changes, s.Replace(u.Node(), "*"+v.Name()))
		}
	}
	return changes, kept
}
