package memory

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// BeforeLoop makes a slice or map that a turn of a loop makes and forgets once, before the loop, and
// empties it in each turn.
func BeforeLoop(on *code.Site) []code.Edit {
	s := &site{on}
	e, ok := s.Cur.Node().(ast.Expr)
	if !ok || !s.Place.Dies || len(s.Place.Held) > 0 || !s.Since("go1.21") {
		return nil
	}
	v, stmt := s.Defined()
	loop, in := s.LoopAround()
	if v == nil || !in || !s.forgets(v, loop) {
		return nil
	}
	made, again := s.scratch(e, v, loop)
	if made == "" {
		return nil
	}
	list, ok := code.Statement(loop)
	if !ok || list != loop {
		return nil // labelled: the label must stay before the loop
	}
	if s.Lookup(v.Name(), loop.Node().Pos()) != nil || s.redeclared(v, loop) {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("make `%s` once, before the loop, and empty it in each turn", v.Name()),
		Changes: []code.Change{s.Before(loop.Node(), v.Name()+" := "+made), s.Replace(stmt.Node(), again)}}}
}

// scratch is the expression that makes a slice or map before a loop, and what empties it in a turn;
// empty where its size may differ from turn to turn.
func (s *site) scratch(e ast.Expr, v *types.Var, loop inspector.Cursor) (made, again string) {
	name := v.Name()
	if _, isMap := v.Type().Underlying().(*types.Map); isMap {
		if s.emptyMap(e) == "" && s.Builtin(e, "make") == nil || !s.sameEachTurn(e, loop) {
			return "", ""
		}
		return s.Source(e), fmt.Sprintf("clear(%s)", name)
	}
	call := s.Builtin(e, "make")
	if _, isSlice := v.Type().Underlying().(*types.Slice); call == nil || !isSlice || len(call.Args) < 2 || !s.sameEachTurn(e, loop) {
		return "", ""
	}
	grows, own := s.growsOnly(v)
	switch {
	case !own:
		return "", "" // may hold memory of another
	case s.IsZero(call.Args[1]):
		return s.Source(e), fmt.Sprintf("%s = %[1]s[:0]", name)
	case grows:
		return s.Source(e), fmt.Sprintf("%s = %[1]s[:%s]\nclear(%[1]s)", name, s.Source(call.Args[1]))
	}
	return s.Source(e), fmt.Sprintf("clear(%s)", name)
}

// sameEachTurn reports whether the sizes that a make asks for are known before a loop, and the same
// in all its turns.
func (s *site) sameEachTurn(e ast.Expr, loop inspector.Cursor) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return true // an empty literal
	}
	for _, a := range call.Args[1:] {
		if !s.PureSize(a) || s.DeclaredAfter(a, loop.Node().Pos()) || s.Changed(a, loop.Node(), loop.Node().Pos(), loop.Node().End()) {
			return false
		}
	}
	return !s.DeclaredAfter(call.Args[0], loop.Node().Pos())
}

// forgets reports whether a turn of a loop leaves no reference to the memory of a variable in
// another one: it is read and written in place, copied from, appended to, and handed to calls that
// cannot give it back.
func (s *site) forgets(v *types.Var, loop inspector.Cursor) bool {
	fn, _ := code.Function(s.Cur)
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() == v.Pos() {
			continue
		}
		if !code.Within(u, fn) || !s.inPlace(u, v) {
			return false
		}
	}
	return true
}

func (s *site) inPlace(u inspector.Cursor, v *types.Var) bool {
	for u.ParentEdgeKind() == edge.SliceExpr_X || u.ParentEdgeKind() == edge.ParenExpr_X {
		u = u.Parent()
	}
	switch u.ParentEdgeKind() {
	case edge.IndexExpr_X:
		x := u.Parent()
		return x.ParentEdgeKind() == edge.AssignStmt_Lhs || x.ParentEdgeKind() != edge.UnaryExpr_X && !inside(s.Info().TypeOf(x.Node().(ast.Expr)))
	case edge.RangeStmt_X:
		r := u.Parent().Node().(*ast.RangeStmt)
		return r.Value == nil || !inside(s.Info().TypeOf(r.Value))
	case edge.AssignStmt_Lhs:
		return s.appendsTo(u.Parent().Node().(*ast.AssignStmt), v)
	case edge.CallExpr_Args:
		call := u.Parent().Node().(*ast.CallExpr)
		if s.Builtin(call, "append") != nil {
			own := len(call.Args) > 0 && call.Args[0] == u.Node()
			return own && u.Parent().ParentEdgeKind() == edge.AssignStmt_Rhs && s.appendsTo(u.Parent().Parent().Node().(*ast.AssignStmt), v) ||
				!own && call.Ellipsis.IsValid()
		}
		return s.givesNothingBack(call)
	}
	return false
}

// inside reports whether values of a type lie in the memory of what holds them, so that a method or
// a slice of one can refer to that.
func inside(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// givesNothingBack reports whether the results of a call cannot refer to its arguments: there are
// none, or they are numbers, truth values, errors, or text that a conversion copies.
func (s *site) givesNothingBack(call *ast.CallExpr) bool {
	if s.Info().Types[call.Fun].IsType() {
		return code.IsString(s.Info().TypeOf(call))
	}
	plain := func(t types.Type) bool {
		b := code.Basic(t)
		return b != nil && b.Info()&(types.IsBoolean|types.IsNumeric) != 0 || types.Identical(t, types.Universe.Lookup("error").Type())
	}
	switch t := s.Info().TypeOf(call).(type) {
	case nil:
		return true
	case *types.Tuple:
		for r := range t.Variables() {
			if !plain(r.Type()) {
				return false
			}
		}
		return true
	default:
		return s.Info().Types[call].IsVoid() || plain(t)
	}
}

// redeclared reports whether a name means something else somewhere in the loop outside the block
// of the variable.
func (s *site) redeclared(v *types.Var, loop inspector.Cursor) bool {
	for c := range loop.Preorder((*ast.Ident)(nil)) {
		id := c.Node().(*ast.Ident)
		if obj := s.Info().ObjectOf(id); id.Name == v.Name() && obj != types.Object(v) && obj != nil {
			if w, ok := obj.(*types.Var); !ok || !w.IsField() {
				return true
			}
		}
	}
	return false
}

// Slab makes the objects of a loop in one array.
func Slab(on *code.Site) []code.Edit {
	s := &site{on}
	o, ok := s.inTurn()
	if !ok {
		return nil
	}
	t := s.Trips(o.loop.Node())
	if t.Text == "" {
		return nil
	}
	open := fmt.Sprintf("one %s that is kept keeps all of them in memory", o.typ)
	if t.Open != "" {
		open += "; " + t.Open
	}
	return []code.Edit{{Open: open, Text: fmt.Sprintf("make the %s of all turns in one slice of %s", o.typ, t.Text),
		Changes: s.inSlab(o, fmt.Sprintf("%s := make([]%s, 0, %s)", o.slab, o.typ, t.Text), fmt.Sprintf("%s = append(%[1]s, %s)", o.slab, o.value))}}
}

// Chunks makes the objects of a loop in arrays of several, where the number of turns is not known.
func Chunks(on *code.Site) []code.Edit {
	s := &site{on}
	o, ok := s.inTurn()
	if !ok || s.Trips(o.loop.Node()).Text != "" {
		return nil
	}
	return []code.Edit{{Open: code.OneKeeps(o.typ), Text: fmt.Sprintf("make the %s of the turns in slices of up to 32", o.typ),
		Changes: s.inSlab(o, fmt.Sprintf("var %s []%s", o.slab, o.typ), s.Chunk(o.slab, o.typ, o.value)...)}}
}

// turned is an object that a turn of a loop makes.
type turned struct {
	value, typ, slab string // as Go source; the slab is a free name
	stmt, loop       inspector.Cursor
}

// inTurn is the object that the site makes in a loop, if a slice before the loop can have it.
func (s *site) inTurn() (o turned, ok bool) {
	value, typ := s.Pointee()
	stmt, listed := code.Statement(s.Cur)
	loop, in := s.LoopAround()
	if value == "" || !listed || !in {
		return o, false
	}
	if list, ok := code.Statement(loop); !ok || list != loop || s.NamesLocals(typ) || s.InCondition(stmt) {
		return o, false
	}
	return turned{value, s.Source(typ), s.Fresh("slab", s.Cur.Node().Pos()), stmt, loop}, true
}

// inSlab are the changes that declare a slice before the loop, append an object to it, and point to that.
func (s *site) inSlab(o turned, decl string, appended ...string) []code.Change {
	return []code.Change{s.Before(o.loop.Node(), decl), s.Before(o.stmt.Node(), appended...),
		s.Replace(s.Cur.Node(), fmt.Sprintf("&%s[len(%[1]s)-1]", o.slab))}
}

// Rows takes the slices that the turns of a loop make from one array.
func Rows(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	stmt, listed := code.Statement(s.Cur)
	loop, in := s.LoopAround()
	if !ok || !listed || !in || s.Builtin(call, "make") == nil || len(call.Args) != 2 || s.IsZero(call.Args[1]) {
		return nil
	}
	typ, isSlice := call.Args[0].(*ast.ArrayType)
	t := s.Trips(loop.Node())
	list, ok := code.Statement(loop)
	if !isSlice || t.Text == "" || !ok || list != loop || s.NamesLocals(typ) || !s.sameEachTurn(call, loop) || s.InCondition(stmt) {
		return nil
	}
	rows := s.Fresh("rows", s.Cur.Node().Pos())
	row := s.Fresh("row", s.Cur.Node().Pos())
	size := s.Source(call.Args[1])
	open := "one slice that is kept keeps all of them in memory"
	if t.Open != "" {
		open += "; " + t.Open
	}
	return []code.Edit{{Open: open, Text: fmt.Sprintf("take the slices of all turns from one array of %s times %s", t.Text, size),
		Changes: []code.Change{
			s.Before(loop.Node(), fmt.Sprintf("%s := make(%s, %s*%s)", rows, s.Source(typ), t.Text, factor(call.Args[1], size))),
			s.Before(stmt.Node(), fmt.Sprintf("%s := %s[:%s:%[3]s]\n%[2]s = %[2]s[%[3]s:]", row, rows, size)),
			s.Replace(s.Cur.Node(), row),
		}}}
}

// factor is an expression's text as an operand of a product.
func factor(e ast.Expr, text string) string {
	if _, ok := e.(*ast.BinaryExpr); ok {
		return "(" + text + ")"
	}
	return text
}
