package memory

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// PresizeSlice reserves what appends need: where the slice is made, or before the first of them.
func PresizeSlice(on *code.Site) []code.Edit {
	s := &site{on}
	if v := s.madeHere(); v != nil {
		if first, own := s.beginning(v); own {
			return s.sizeOwn(v, first)
		}
		return s.sizeHanded(v)
	}
	if edits := s.longer(); edits != nil {
		return edits
	}
	assign, call := s.Appends()
	if assign == nil {
		return nil
	}
	dst := assign.Lhs[0]
	if v := s.Local(dst); v != nil {
		if first, own := s.beginning(v); own {
			if loop, ok := s.branchOf(v, first); ok {
				return s.sizeOwn(v, loop)
			}
			if !s.sized(v) && !s.setAside(v) {
				return s.sizeOwn(v, first)
			}
		}
		if s.sized(v) {
			return nil
		}
	}
	if s.Builtin(call, "append") == nil || call.Ellipsis.IsValid() || len(call.Args) < 2 || !s.Pure(dst) {
		return nil
	}
	return s.sizeGiven(dst, len(call.Args)-1)
}

// longer makes a slice that begins with elements, and is appended to, with room for what comes.
func (s *site) longer() []code.Edit {
	if assign, _ := s.Appends(); assign != nil {
		maker, ok := s.maker(s.Local(assign.Lhs[0]))
		if !ok {
			return nil
		}
		s = &site{&code.Site{File: s.File, Cur: maker, Place: s.Place}}
	}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Builtin(call, "make") == nil || len(call.Args) != 2 || s.IsZero(call.Args[1]) || !s.PureSize(call.Args[1]) {
		return nil
	}
	v, stmt := s.Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	if _, isSlice := v.Type().Underlying().(*types.Slice); !isSlice {
		return nil
	}
	grows := false
	for _, u := range s.Uses(v, fn)[1:] {
		switch u.ParentEdgeKind() {
		case edge.AssignStmt_Lhs:
			if grows = true; !code.Within(u, fn) || !s.appendsTo(u.Parent().Node().(*ast.AssignStmt), v) {
				return nil
			}
		case edge.UnaryExpr_X:
			return nil
		}
	}
	next, more := stmt.NextSibling()
	if !grows || !more {
		return nil
	}
	a := s.Total(s.grownBy(v, next), stmt)
	if a.Text == "" || len(a.Lines) > 0 {
		return nil
	}
	if !a.Full && a.Open == "" {
		a.Open = fmt.Sprintf("`%s` is larger than it must be where little is appended", v.Name())
	}
	length := s.Source(call.Args[1])
	return []code.Edit{{Open: a.Open, Text: fmt.Sprintf("make `%s` with room for %s more elements", v.Name(), code.Brief(a.Text)),
		Changes: []code.Change{s.Insert(s.Offset(call.Args[1].End()), fmt.Sprintf(", %s+%s", length, a.Text))}}}
}

// maker is the expression that a local variable is defined by, alone.
func (s *site) maker(v *types.Var) (inspector.Cursor, bool) {
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return inspector.Cursor{}, false
	}
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() == v.Pos() && u.ParentEdgeKind() == edge.AssignStmt_Lhs && len(u.Parent().Node().(*ast.AssignStmt).Rhs) == 1 {
			return u.Parent().ChildAt(edge.AssignStmt_Rhs, 0), true
		}
	}
	return inspector.Cursor{}, false
}

// beginning is the statement before which room for a slice can be reserved: the first in the list of its
// declaration that appends to it. own is true where it begins empty, and only what appends to it gives
// it memory.
func (s *site) beginning(v *types.Var) (first inspector.Cursor, own bool) {
	fn, body := code.Function(s.Cur)
	if body == nil || !s.startsFresh(v, fn) {
		return first, false
	}
	list := s.listOf(v, fn)
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() != edge.AssignStmt_Lhs || u.Node().Pos() == v.Pos() {
			continue
		}
		for c := u; c.Node() != nil; c = c.Parent() {
			if c.Parent().Node() == list {
				return c, true
			}
			if _, isFile := c.Node().(*ast.File); isFile {
				break
			}
		}
	}
	return first, false
}

// branchOf is the outermost loop around the site inside of a branch of a statement, where nothing before it in the branch
// appends to the slice.
func (s *site) branchOf(v *types.Var, first inspector.Cursor) (loop inspector.Cursor, ok bool) {
	list := token.NoPos // the branch begins there
	for c := s.Cur; c.Node() != first.Node(); c = c.Parent() {
		switch n := c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			loop, list, ok = c, token.NoPos, true
		case *ast.BlockStmt:
			if k := c.ParentEdgeKind(); k == edge.IfStmt_Body || k == edge.IfStmt_Else || k == edge.BlockStmt_List {
				list = n.Pos()
			}
		case *ast.CaseClause, *ast.CommClause:
			list, ok = n.Pos(), ok && s.Since("go1.21") // slices.Grow keeps what comes by fallthrough
		case *ast.FuncLit, *ast.File, nil:
			return loop, false
		}
	}
	fn, _ := code.Function(s.Cur)
	for _, u := range s.Uses(v, fn) {
		at := u.Node().Pos()
		ok = ok && !(u.ParentEdgeKind() == edge.AssignStmt_Lhs && list <= at && at < loop.Node().Pos())
	}
	_, isFor := first.Node().(*ast.ForStmt)
	_, isRange := first.Node().(*ast.RangeStmt)
	return loop, ok && list.IsValid() && !isFor && !isRange
}

// listOf is the node whose list of statements declares a variable: for a result the function's body.
func (s *site) listOf(v *types.Var, fn inspector.Cursor) ast.Node {
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() != v.Pos() {
			continue
		}
		if stmt, ok := code.Statement(u); ok && code.Within(stmt, fn) {
			return stmt.Parent().Node()
		}
	}
	switch n := fn.Node().(type) {
	case *ast.FuncDecl:
		return n.Body
	case *ast.FuncLit:
		return n.Body
	}
	return nil
}

// startsFresh reports whether a slice begins empty in a function and only appending gives it memory.
func (s *site) startsFresh(v *types.Var, fn inspector.Cursor) bool {
	declared, ok := false, true
	for _, u := range s.Uses(v, fn) {
		stmt, listed := code.Statement(u)
		switch {
		case u.Node().Pos() == v.Pos() && !listed:
			_, results := code.Signature(fn)
			declared = results != nil && results.Pos() <= v.Pos() && v.Pos() < results.End()
		case u.Node().Pos() == v.Pos():
			declared = s.declaresEmpty(stmt.Node(), v)
		case u.ParentEdgeKind() == edge.AssignStmt_Lhs:
			assign := u.Parent().Node().(*ast.AssignStmt)
			ok = ok && (s.growsBy(assign, v) || s.shortens(assign, v) || s.Aside(u, v)) && code.Within(u, fn)
		case u.ParentEdgeKind() == edge.UnaryExpr_X:
			ok = ok && u.Parent().Node().(*ast.UnaryExpr).Op != token.AND
		}
	}
	return declared && ok
}

// setAside reports whether a slice of the function comes from elsewhere on another way than the site's.
func (s *site) setAside(v *types.Var) bool {
	fn, _ := code.Function(s.Cur)
	return slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool {
		if u.ParentEdgeKind() != edge.AssignStmt_Lhs || u.Node().Pos() == v.Pos() {
			return false
		}
		assign := u.Parent().Node().(*ast.AssignStmt)
		return !s.growsBy(assign, v) && !s.shortens(assign, v)
	})
}

// growsBy reports whether an assignment is v = append(v, …), or of another call that takes v first.
func (s *site) growsBy(n *ast.AssignStmt, v *types.Var) bool {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 || n.Tok != token.ASSIGN {
		return false
	}
	call, ok := n.Rhs[0].(*ast.CallExpr)
	return ok && len(call.Args) > 0 && s.Local(n.Lhs[0]) == v && s.Local(call.Args[0]) == v
}

// shortens reports whether an assignment is v = v[:0], or takes some of the last elements off.
func (s *site) shortens(n *ast.AssignStmt, v *types.Var) bool {
	if len(n.Lhs) != 1 || n.Tok != token.ASSIGN {
		return false
	}
	part, ok := n.Rhs[0].(*ast.SliceExpr)
	if !ok || s.Local(part.X) != v || part.Low != nil || part.High == nil || part.Slice3 {
		return false
	}
	less, ok := part.High.(*ast.BinaryExpr)
	if !ok {
		return s.IsZero(part.High)
	}
	length := s.Builtin(less.X, "len")
	return less.Op == token.SUB && length != nil && s.Local(length.Args[0]) == v && s.Info().Types[less.Y].Value != nil &&
		constant.Sign(s.Info().Types[less.Y].Value) >= 0
}

// shortened reports whether a function shortens a slice of its own.
func (s *site) shortened(v *types.Var) bool {
	fn, _ := code.Function(s.Cur)
	return slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool {
		return u.ParentEdgeKind() == edge.AssignStmt_Lhs && s.shortens(u.Parent().Node().(*ast.AssignStmt), v)
	})
}

// declaresEmpty reports whether a statement declares a slice variable without memory.
func (s *site) declaresEmpty(stmt ast.Node, v *types.Var) bool {
	switch n := stmt.(type) {
	case *ast.DeclStmt:
		spec := code.SpecOf(n, v)
		return spec != nil && (len(spec.Values) == 0 || len(spec.Values) == 1 && len(spec.Names) == 1 && s.emptySlice(spec.Values[0]) != nil)
	case *ast.AssignStmt:
		return len(n.Lhs) == 1 && len(n.Rhs) == 1 && s.Local(n.Lhs[0]) == v && s.emptySlice(n.Rhs[0]) != nil
	}
	return false
}

// emptySlice is the type in []T{} or make([]T, 0); nil for other expressions.
func (s *site) emptySlice(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.CompositeLit:
		if _, ok := s.Info().TypeOf(e).Underlying().(*types.Slice); ok && len(e.Elts) == 0 {
			return e.Type
		}
	case *ast.CallExpr:
		if s.Builtin(e, "make") != nil && len(e.Args) == 2 && s.IsZero(e.Args[1]) {
			return e.Args[0]
		}
	}
	return nil
}

// grownBy are the places that append to a slice of the function, from a statement on.
func (s *site) grownBy(v *types.Var, first inspector.Cursor) []code.Growth {
	fn, _ := code.Function(s.Cur)
	var out []code.Growth
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() != edge.AssignStmt_Lhs || u.Node().Pos() < first.Node().Pos() || s.shortens(u.Parent().Node().(*ast.AssignStmt), v) {
			continue
		}
		g := code.Growth{At: u}
		call, ok := u.Parent().Node().(*ast.AssignStmt).Rhs[0].(*ast.CallExpr)
		switch {
		case !ok || s.Builtin(call, "append") == nil:
			g.Lens = call.Args[:1] // nothing says by how much: the slice itself is not known before
		case call.Ellipsis.IsValid():
			g.Lens = call.Args[1:]
		default:
			g.Fixed = len(call.Args) - 1
		}
		out = append(out, g)
	}
	return out
}

// sizeOwn reserves room in a slice that begins empty, before the statement that appends to it first.
func (s *site) sizeOwn(v *types.Var, first inspector.Cursor) []code.Edit {
	if assign, ok := first.Node().(*ast.AssignStmt); ok && s.isGrow(assign) {
		return nil // it has its size
	}
	grown := slices.DeleteFunc(s.grownBy(v, first), func(g code.Growth) bool { return g.At.Node().Pos() > first.Parent().Node().End() })
	a := s.Total(grown, first)
	if a.Text == "" {
		return s.reserveSeen(v)
	}
	if s.shortened(v) {
		a.Full, a.Exact = false, false
	}
	name := v.Name()
	open, loose := a.Open, a.Open
	if !a.Full && open == "" {
		loose = fmt.Sprintf("`%s` is larger than it must be where little is appended", name)
	}
	if !a.Exact && open == "" {
		open = fmt.Sprintf("`%s` is no longer nil when nothing is appended, and is larger than it must be when little is", name)
	}
	decl, made, elem := s.madeBefore(v, first)
	if made != nil {
		if at := s.Total(grown, decl); at.Text == a.Text && len(a.Lines) == 0 {
			return []code.Edit{{Open: loose, Text: fmt.Sprintf("make `%s` with capacity %s", name, a.Text),
				Changes: []code.Change{s.Replace(made, fmt.Sprintf("make(%s, 0, %s)", s.Source(elem), a.Text))}}}
		}
		open = loose
	}
	lines, imports := s.reserved(v, a, first, made != nil)
	if lines == nil {
		return nil
	}
	return []code.Edit{{Open: open, Imports: imports, Changes: []code.Change{s.Before(first.Node(), append(a.Lines, lines...)...)},
		Text: fmt.Sprintf("reserve room in `%s` for %s elements before they are appended", name, code.Brief(a.Text))}}
}

// reserved are the statements that give a slice of the function room for so many elements. It stays nil
// where it is, if there are none.
func (s *site) reserved(v *types.Var, a code.Amount, first inspector.Cursor, made bool) (lines, imports []string) {
	typ, name := s.TypeText(v.Type()), v.Name()
	pkg, imports, ok := s.Use("slices", first.Node().Pos())
	switch {
	case made && typ != "":
		return []string{fmt.Sprintf("%s = make(%s, 0, %s)", name, typ, a.Text)}, nil
	case ok && s.Since("go1.21"):
		return []string{fmt.Sprintf("%s = %s.Grow(%[1]s, %[3]s)", name, pkg, a.Text)}, imports
	case typ != "" && len(a.Lines) == 0:
		return []string{s.madeIfAny(name, typ, a.Text, first.Node().Pos())}, nil
	}
	return nil, nil
}

// madeIfAny is a statement that makes an empty slice with room for so many elements, and leaves it as it is for none.
func (s *site) madeIfAny(name, typ, room string, at token.Pos) string {
	return fmt.Sprintf("if %s := %s; %[1]s > 0 {\n%[3]s = make(%[4]s, 0, %[1]s)\n}", s.Fresh("n", at), room, name, typ)
}

// isGrow reports whether an assignment only reserves room.
func (s *site) isGrow(n *ast.AssignStmt) bool {
	call, ok := n.Rhs[0].(*ast.CallExpr)
	return ok && s.Callee(call) == "slices.Grow"
}

// madeBefore is the statement in the list before another that makes a slice of the function empty, but
// not nil, the expression that does and its type; nil where it begins as nil.
func (s *site) madeBefore(v *types.Var, first inspector.Cursor) (decl inspector.Cursor, made, elem ast.Expr) {
	for c, ok := first.PrevSibling(); ok; c, ok = c.PrevSibling() {
		switch n := c.Node().(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE && len(n.Lhs) == 1 && s.Local(n.Lhs[0]) == v {
				return c, n.Rhs[0], s.emptySlice(n.Rhs[0])
			}
		case *ast.DeclStmt:
			if spec := code.SpecOf(n, v); spec != nil {
				if len(spec.Values) == 1 {
					return c, spec.Values[0], s.emptySlice(spec.Values[0])
				}
				return c, nil, nil
			}
		}
	}
	return first, nil, nil
}

// sized reports whether a function makes a slice with its size, or reserves room in it.
func (s *site) sized(v *types.Var) bool {
	fn, _ := code.Function(s.Cur)
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() != edge.AssignStmt_Lhs {
			continue
		}
		n := u.Parent().Node().(*ast.AssignStmt)
		if len(n.Lhs) == 1 && (s.Builtin(n.Rhs[0], "make") != nil && s.emptySlice(n.Rhs[0]) == nil || s.isGrow(n)) {
			return true
		}
	}
	return false
}

// madeHere is the variable that the site makes as an empty slice; nil for none.
func (s *site) madeHere() *types.Var {
	switch n := s.Cur.Node().(type) {
	case *ast.CompositeLit, *ast.CallExpr:
		if s.emptySlice(n.(ast.Expr)) == nil {
			return nil
		}
		v, _ := s.Defined()
		return v
	case *ast.DeclStmt:
		if spec := code.OnlySpec(n); spec != nil {
			v, _ := s.Info().Defs[spec.Names[0]].(*types.Var)
			if v != nil && s.declaresEmpty(n, v) {
				if _, ok := v.Type().Underlying().(*types.Slice); ok {
					return v
				}
			}
		}
	}
	return nil
}

// sizeHanded makes a slice that a call fills as long as what the call is handed with it.
func (s *site) sizeHanded(v *types.Var) []code.Edit {
	fn, _ := code.Function(s.Cur)
	var out []code.Edit
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() != edge.CallExpr_Args || s.Builtin(u.Parent().Node().(ast.Expr), "append") != nil {
			continue
		}
		for _, a := range u.Parent().Node().(*ast.CallExpr).Args {
			w := s.Local(a)
			if w == nil || w == v || !code.IsString(w.Type()) && !code.IsBytes(w.Type()) || s.Lookup(w.Name(), v.Pos()) != w {
				continue
			}
			size := "len(" + w.Name() + ")"
			if e := s.remake(v, size); e != nil {
				e[0].Open = fmt.Sprintf("`%s` must usually be about as long as `%s`", v.Name(), w.Name())
				out = append(out, e...)
			}
		}
	}
	return append(out, s.reserveSeen(v)...)
}

// remake makes an empty slice of the function with a capacity where it is declared.
func (s *site) remake(v *types.Var, size string) []code.Edit {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		stmt, listed := code.Statement(u)
		if u.Node().Pos() != v.Pos() || !listed || !s.declaresEmpty(stmt.Node(), v) {
			continue
		}
		e := code.Edit{Text: fmt.Sprintf("make `%s` with capacity %s", v.Name(), size)}
		switch n := stmt.Node().(type) {
		case *ast.AssignStmt:
			e.Changes = []code.Change{s.Replace(n.Rhs[0], fmt.Sprintf("make(%s, 0, %s)", s.Source(s.emptySlice(n.Rhs[0])), size))}
		case *ast.DeclStmt:
			elem := s.TypeText(v.Type())
			if code.OnlySpec(n) == nil || elem == "" {
				return nil
			}
			e.Changes = []code.Change{s.Replace(n, fmt.Sprintf("%s := make(%s, 0, %s)", v.Name(), elem, size))}
		}
		return []code.Edit{e}
	}
	return nil
}

// reserveSeen makes a slice of the function with the capacity that the recording needed, where nothing
// says how many elements there will be.
func (s *site) reserveSeen(v *types.Var) []code.Edit {
	slice, ok := v.Type().Underlying().(*types.Slice)
	if !ok || !s.Place.Grown {
		return nil
	}
	const most = 16 << 10 // bytes that each call may reserve in vain
	n := s.Seen(most) / max(s.SizeOf(slice.Elem()), 1)
	if n < 2 {
		return nil
	}
	out := s.remake(v, strconv.FormatInt(n, 10))
	for i := range out {
		out[i].Open = fmt.Sprintf("the recording needed %d elements; a call that appends nothing allocates them, too", n)
		if strings.Contains(out[i].Changes[0].Text, ":=") {
			out[i].Open += fmt.Sprintf("; `%s` is no longer nil when nothing is appended", v.Name())
		}
	}
	return out
}

// appendsTo reports whether an assignment is v = append(v, …).
func (s *site) appendsTo(n *ast.AssignStmt, v *types.Var) bool {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return false
	}
	call := s.Builtin(n.Rhs[0], "append")
	return call != nil && s.Local(n.Lhs[0]) == v && s.Local(call.Args[0]) == v
}
