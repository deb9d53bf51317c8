package owner

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// Slab makes the objects that a list or a map of the receiver points to in arrays of several. A field of the receiver has
// the array that is not full yet.
func Slab(on *code.Site) []code.Edit {
	s := &site{on}
	value, typ := s.Pointee()
	stmt, ok := code.Statement(s.Cur)
	h := s.receiver()
	if value == "" || !ok || h == nil || s.NamesLocals(typ) || s.InCondition(stmt) || !s.isElement(h) || s.comparedWithNil(h) {
		return nil
	}
	text, of := s.Source(typ), s.Info().TypeOf(typ)
	e := code.Edit{Open: code.OneKeeps(text), Text: fmt.Sprintf("make each %s in an array of up to 32, in a field of %s", text, h.typ.Obj().Name())}
	if open := h.open(s, stmt); open != "" {
		e.Open += "; " + open
	}
	field := h.add(s, &e, "slab", types.NewSlice(of))
	if field == "" {
		return nil
	}
	slab := h.v.Name() + "." + field
	e.Changes = append(e.Changes, s.Before(stmt.Node(), s.Chunk(slab, text, value)...),
		s.Replace(s.Cur.Node(), fmt.Sprintf("&%s[len(%[1]s)-1]", slab)))
	return []code.Edit{e}
}

// isElement reports whether the pointer that the site makes becomes an element of a list or a map of a holder: at once,
// or by the variable that it defines.
func (s *site) isElement(h *holder) bool {
	if s.putInto(h, s.Cur) {
		return true
	}
	v, _ := s.Defined()
	if v == nil {
		return false
	}
	fn, _ := code.Function(s.Cur)
	return slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool { return s.putInto(h, u) })
}

// putInto reports whether an expression is appended to a list of a holder, or set as an element of one, or of a map.
func (s *site) putInto(h *holder, c inspector.Cursor) bool {
	appended := c.ParentEdgeKind() == edge.CallExpr_Args
	if appended {
		if s.Builtin(c.Parent().Node().(ast.Expr), "append") == nil {
			return false
		}
		c = c.Parent()
	}
	if c.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return false
	}
	assign := c.Parent().Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || s.RootOf(assign.Lhs[0]) != types.Object(h.v) {
		return false
	}
	_, index := ast.Unparen(assign.Lhs[0]).(*ast.IndexExpr)
	return index || appended
}

// comparedWithNil reports whether a function compares the pointer to its holder with nil.
func (s *site) comparedWithNil(h *holder) bool {
	found := false
	ast.Inspect(h.fn.Body, func(n ast.Node) bool {
		cmp, ok := n.(*ast.BinaryExpr)
		found = found || ok && (s.Local(cmp.X) == h.v && s.Info().Types[cmp.Y].IsNil() || s.Local(cmp.Y) == h.v && s.Info().Types[cmp.X].IsNil())
		return !found
	})
	return found
}
