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

// sizeGiven reserves room in a slice that comes from elsewhere, before the loop around the append.
func (s *site) sizeGiven(dst ast.Expr, per int) []code.Edit {
	plain := true
	for loop := range s.Cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.IfStmt)(nil),
		(*ast.CaseClause)(nil), (*ast.CommClause)(nil), (*ast.FuncLit)(nil)) {
		switch n := loop.Node().(type) {
		case *ast.FuncLit:
			return nil
		case *ast.ForStmt, *ast.RangeStmt:
			root, ok := s.RootOf(dst).(*types.Var)
			if !ok || n.Pos() <= root.Pos() && root.Pos() < n.End() || s.BeginsAnew(n, dst) {
				return nil
			}
			if t := s.Trips(n); t.Text != "" {
				if per > 1 {
					t.Text = fmt.Sprintf("%d*%s", per, t.Text)
				}
				return s.reserveGiven(loop, dst, t, plain && code.Straight(n, false))
			}
			plain = false // of an outer loop
		default:
			plain = false
		}
	}
	return nil
}

func (s *site) reserveGiven(loop inspector.Cursor, dst ast.Expr, t code.Trips, exact bool) []code.Edit {
	name := s.Source(dst)
	open := t.Open
	switch {
	case s.ThroughPointer(dst) && !s.freshField(dst, loop):
		open = fmt.Sprintf("`%s` must be there, too, when the loop does not run", name)
	case !exact && open == "":
		open = fmt.Sprintf("`%s` is no longer nil when nothing is appended, and is larger than it must be when little is", name)
	case open == "" && !s.freshField(dst, loop):
		open = fmt.Sprintf("`%s` must not share its memory with another slice that is read later", name)
	}
	stmt, listed := code.Statement(loop)
	if before, ok := stmt.PrevSibling(); ok && s.reserves(before.Node(), name) {
		return nil
	}
	pkg, imports, ok := s.Use("slices", loop.Node().Pos())
	line := fmt.Sprintf("%s = %s.Grow(%[1]s, %[3]s)", name, pkg, t.Text)
	if !s.Since("go1.21") {
		typ := s.TypeText(s.Info().TypeOf(dst))
		line, imports = s.madeIfAny(name, typ, t.Text, loop.Node().Pos()), nil
		ok = typ != "" && s.freshField(dst, loop)
	}
	if !listed || !ok {
		return nil
	}
	return []code.Edit{{Open: open, Imports: imports, Changes: []code.Change{s.Before(stmt.Node(), line)},
		Text: fmt.Sprintf("reserve room in `%s` for %s elements before the loop", name, t.Text)}}
}

// reserves reports whether a statement gives a slice room.
func (s *site) reserves(stmt ast.Node, name string) bool {
	if cond, ok := stmt.(*ast.IfStmt); ok && len(cond.Body.List) == 1 {
		stmt = cond.Body.List[0]
	}
	assign, ok := stmt.(*ast.AssignStmt)
	return ok && s.Source(assign.Lhs[0]) == name && (s.isGrow(assign) || s.Builtin(assign.Rhs[0], "make") != nil)
}

// freshField reports whether e is a field of a struct that a statement before a loop makes without that
// field. The statements in between may name other fields of the struct only.
func (s *site) freshField(e ast.Expr, loop inspector.Cursor) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || s.Local(sel.X) == nil {
		return false
	}
	v := s.Local(sel.X)
	stmt, _ := code.Statement(loop)
	for c, more := stmt.PrevSibling(); more; c, more = c.PrevSibling() {
		assign, is := c.Node().(*ast.AssignStmt)
		if is && assign.Tok == token.DEFINE && len(assign.Lhs) == 1 && s.Local(assign.Lhs[0]) == v {
			return s.leavesOut(assign.Rhs[0], sel.Sel.Name)
		}
		for id := range c.Preorder((*ast.Ident)(nil)) {
			if s.Info().ObjectOf(id.Node().(*ast.Ident)) == v && !s.namesOther(id, sel.Sel.Name) {
				return false
			}
		}
	}
	return false
}

// namesOther reports whether a variable is named only to read or set a field of it that is not of a name.
func (s *site) namesOther(id inspector.Cursor, field string) bool {
	sel, ok := id.Parent().Node().(*ast.SelectorExpr)
	if !ok || id.ParentEdgeKind() != edge.SelectorExpr_X || sel.Sel.Name == field {
		return false
	}
	selection := s.Info().Selections[sel]
	address, _ := id.Parent().Parent().Node().(*ast.UnaryExpr)
	return selection != nil && selection.Kind() == types.FieldVal && len(selection.Index()) == 1 && (address == nil || address.Op != token.AND) &&
		id.Parent().ParentEdgeKind() != edge.SelectorExpr_X
}

// leavesOut reports whether an expression makes a struct, or a pointer to one, without setting a field.
func (s *site) leavesOut(e ast.Expr, field string) bool {
	if s.Builtin(e, "new") != nil {
		return true
	}
	if u, ok := e.(*ast.UnaryExpr); ok && u.Op == token.AND {
		e = u.X
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, elt := range lit.Elts {
		kv, keyed := elt.(*ast.KeyValueExpr)
		if !keyed || s.Source(kv.Key) == field {
			return false
		}
	}
	_, isStruct := s.Info().TypeOf(lit).Underlying().(*types.Struct)
	return isStruct
}
