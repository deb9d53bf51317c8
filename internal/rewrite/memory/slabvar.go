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
	if !ok {
		return nil
	}
	v, ok := s.Info().Defs[id].(*types.Var)
	stmt, listed := code.Statement(s.Cur)
	loop, in := s.LoopAround()
	if !ok || !listed || !in || !code.IsComposite(v.Type()) {
		return nil
	}
	d := s.declared(v, stmt)
	t := s.Trips(loop.Node())
	list, ok := code.Statement(loop)
	if d.value == "" || t.Text == "" || !ok || list != loop {
		return nil
	}
	changes, kept := s.pointed(v, loop)
	if !kept {
		return nil
	}
	slab := s.Fresh("slab", id.Pos())
	open := fmt.Sprintf("one %s that is kept keeps all of them in memory", d.typ)
	if t.Open != "" {
		open += "; " + t.Open
	}
	return []code.Edit{{Open: open, Text: fmt.Sprintf("make the %s of all turns in one slice of %s", d.typ, t.Text), Imports: d.imports,
		Changes: append(changes,
			s.Before(loop.Node(), fmt.Sprintf("%s := make([]%s, 0, %s)", slab, d.typ, t.Text)),
			s.Replace(stmt.Node(), fmt.Sprintf("%s = append(%[1]s, %s)\n%s := &%[1]s[len(%[1]s)-1]", slab, d.value, v.Name())))}}
}

// declaration is how a variable is declared: its type and its value, as Go source.
type declaration struct {
	typ, value string
	imports    []string
}

// declared is the declaration of a variable by `var v T` or `v := value`; without a value for others.
func (s *site) declared(v *types.Var, stmt inspector.Cursor) (d declaration) {
	switch n := stmt.Node().(type) {
	case *ast.DeclStmt:
		spec := code.OnlySpec(n)
		if spec == nil || len(spec.Names) != 1 || len(spec.Values) > 0 || spec.Type == nil || s.NamesLocals(spec.Type) {
			return d
		}
		d.typ = s.Source(spec.Type)
		d.value = d.typ + "{}"
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 || len(n.Rhs) != 1 || s.Local(n.Lhs[0]) != v {
			return d
		}
		var ok bool
		if d.typ, d.imports, ok = s.Spell(v.Type(), n.Pos()); ok {
			d.value = s.Source(n.Rhs[0])
		}
	}
	return d
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
