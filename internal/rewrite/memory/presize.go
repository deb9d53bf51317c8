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

// PresizeSlice reserves what a loop appends: before the loop, or where the slice is made.
func PresizeSlice(on *code.Site) []code.Edit {
	s := &site{on}
	assign, call := s.appends()
	if assign == nil || !s.Since("go1.21") {
		return nil
	}
	dst := assign.Lhs[0]
	per := len(call.Args) - 1
	if call.Ellipsis.IsValid() || per < 1 || !s.Pure(dst) {
		return nil
	}
	var out []code.Edit
	plainBody := true
	for loop := range s.Cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.IfStmt)(nil),
		(*ast.CaseClause)(nil), (*ast.CommClause)(nil), (*ast.FuncLit)(nil)) {
		switch n := loop.Node().(type) {
		case *ast.FuncLit:
			return out
		case *ast.ForStmt, *ast.RangeStmt:
			if root, ok := s.RootOf(dst).(*types.Var); !ok || n.Pos() <= root.Pos() && root.Pos() < n.End() {
				return s.orSeen(out, dst)
			}
			t := s.trips(loop)
			t.per = per
			if t.text != "" {
				out = append(out, s.reserve(loop, dst, t, plainBody && s.straight(loop))...)
			}
			plainBody = false // of an outer loop
		default:
			plainBody = false
		}
	}
	return s.orSeen(out, dst)
}

func (s *site) orSeen(out []code.Edit, dst ast.Expr) []code.Edit {
	if len(out) == 0 {
		return s.reserveSeen(dst)
	}
	return out
}

// reserveSeen makes a local slice with the capacity that the recording needed, where nothing says
// how many elements there will be.
func (s *site) reserveSeen(dst ast.Expr) []code.Edit {
	v := s.Local(dst)
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || s.seen() == 0 {
		return nil
	}
	slice, ok := v.Type().Underlying().(*types.Slice)
	if !ok {
		return nil
	}
	n := s.seen() / max(s.Pkg.TypesSizes.Sizeof(slice.Elem()), 1)
	elem := s.TypeText(v.Type())
	if n < 2 || elem == "" {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		stmt, ok := code.Statement(u)
		if u.Node().Pos() != v.Pos() || !ok {
			continue
		}
		if d, ok := stmt.Node().(*ast.DeclStmt); ok && code.OnlySpec(d) != nil && len(code.OnlySpec(d).Values) == 0 {
			return []code.Edit{{Open: fmt.Sprintf("%d elements are what the recording needed; `%s` is no longer nil when nothing is appended", n, v.Name()),
				Text:    fmt.Sprintf("make `%s` with capacity %d", v.Name(), n),
				Changes: []code.Change{s.Replace(d, fmt.Sprintf("%s := make(%s, 0, %d)", v.Name(), elem, n))}}}
		}
	}
	return nil
}

// appends returns the statement `x = append(x, …)` that the site is, and its call.
func (s *site) appends() (*ast.AssignStmt, *ast.CallExpr) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || s.Builtin(call, "append") == nil {
		return nil, nil
	}
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(call.Args) == 0 ||
		s.Source(assign.Lhs[0]) != s.Source(call.Args[0]) {
		return nil, nil
	}
	return assign, call
}

// trips is how often a loop runs at most, as Go source.
type trips struct {
	text string   // empty if not known before it starts
	expr ast.Expr // what it names
	open string   // why it may be wrong to reserve so much
	per  int      // elements that each appends
}

// trips asks for the count of a loop: that of what it ranges over, or n of i := 0; i < n; i++.
func (s *site) trips(loop inspector.Cursor) trips {
	switch n := loop.Node().(type) {
	case *ast.RangeStmt:
		if !s.Pure(n.X) {
			return trips{}
		}
		t := s.Info().TypeOf(n.X)
		if t == nil {
			return trips{}
		}
		switch u := t.Underlying().(type) {
		case *types.Slice, *types.Map, *types.Array:
			return trips{text: "len(" + s.Source(n.X) + ")", expr: n.X}
		case *types.Basic:
			if u.Info()&types.IsInteger != 0 {
				return s.number(n.X)
			}
		}
	case *ast.ForStmt:
		cond, ok := n.Cond.(*ast.BinaryExpr)
		init, isInit := n.Init.(*ast.AssignStmt)
		post, isPost := n.Post.(*ast.IncDecStmt)
		if !ok || !isInit || !isPost || cond.Op != token.LSS || post.Tok != token.INC || len(init.Rhs) != 1 ||
			!s.IsZero(init.Rhs[0]) || !s.Pure(cond.Y) {
			return trips{}
		}
		return s.number(cond.Y)
	}
	return trips{}
}

// number is an integer expression as a count: of a length it is safe, another may be negative
// or come from outside.
func (s *site) number(e ast.Expr) trips {
	if s.Builtin(e, "len") != nil {
		return trips{text: s.Source(e), expr: e}
	}
	if v := s.Info().Types[e].Value; v != nil {
		return trips{}
	}
	t := trips{text: fmt.Sprintf("max(0, %s)", s.Source(e)), expr: e,
		open: fmt.Sprintf("`%s` may be much larger than what is appended, if it comes from outside", s.Source(e))}
	if b := code.Basic(s.Info().TypeOf(e)); b == nil || b.Kind() != types.Int {
		t.text = fmt.Sprintf("max(0, int(%s))", s.Source(e))
	}
	return t
}

// straight reports whether every trip of a loop runs to its end, but for those that return from
// the function.
func (s *site) straight(loop inspector.Cursor) bool {
	ok := true
	ast.Inspect(loop.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			ok = ok && n.Tok == token.FALLTHROUGH
		case *ast.ReturnStmt:
			ok = false
		}
		return ok
	})
	return ok
}

// reserve makes the edits that reserve room for what a loop appends. exact says that each turn
// does.
func (s *site) reserve(loop inspector.Cursor, dst ast.Expr, t trips, exact bool) []code.Edit {
	count := t.text
	if t.per > 1 {
		count = fmt.Sprintf("%d*%s", t.per, count)
	}
	open := t.open
	loose := t.open
	if !exact && open == "" {
		loose = fmt.Sprintf("`%s` is larger than it must be where little is appended", s.Source(dst))
		open = fmt.Sprintf("`%s` is no longer nil when nothing is appended, and is larger than it must be when little is",
			s.Source(dst))
	}
	if open == "" && !s.startsFresh(dst) {
		open = fmt.Sprintf("`%s` must not share its memory with another slice that is read later", s.Source(dst))
	}
	if s.ThroughPointer(dst) {
		open = fmt.Sprintf("`%s` must be there, too, when the loop does not run", s.Source(dst))
	}
	stmt, ok := code.Statement(loop)
	if !ok || stmt != loop {
		return nil // labelled: the label must stay before the loop
	}
	var out []code.Edit
	if made, lit := s.madeBefore(loop, dst, t.expr); made != nil {
		text := fmt.Sprintf("make(%s, 0, %s)", s.Source(lit), count)
		out = append(out, code.Edit{Open: loose, Text: fmt.Sprintf("make `%s` with capacity %s", s.Source(dst), count),
			Changes: []code.Change{s.Replace(made, text)}})
	}
	name, imports, ok := s.Use("slices", loop.Node().Pos())
	if !ok {
		return out
	}
	line := fmt.Sprintf("%s = %s.Grow(%[1]s, %[3]s)", s.Source(dst), name, count)
	return append(out, code.Edit{Open: open, Imports: imports,
		Text:    fmt.Sprintf("reserve room in `%s` for %s elements before the loop", s.Source(dst), count),
		Changes: []code.Change{s.Before(loop.Node(), line)}})
}

// startsFresh reports whether a slice begins empty in this function and only append gives it memory.
func (s *site) startsFresh(dst ast.Expr) bool {
	v := s.Local(dst)
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return false
	}
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
			ok = ok && s.appendsTo(u.Parent().Node().(*ast.AssignStmt), v)
		case u.ParentEdgeKind() == edge.UnaryExpr_X:
			ok = ok && u.Parent().Node().(*ast.UnaryExpr).Op != token.AND
		}
	}
	return declared && ok
}

// declaresEmpty reports whether a statement declares a slice variable without memory of its own, or
// with memory that nothing else has.
func (s *site) declaresEmpty(stmt ast.Node, v *types.Var) bool {
	switch n := stmt.(type) {
	case *ast.DeclStmt:
		spec := code.OnlySpec(n)
		return spec != nil && len(spec.Values) == 0
	case *ast.AssignStmt:
		if len(n.Lhs) != 1 || len(n.Rhs) != 1 || s.Local(n.Lhs[0]) != v {
			return false
		}
		lit, isLit := n.Rhs[0].(*ast.CompositeLit)
		return isLit && len(lit.Elts) == 0 || s.Builtin(n.Rhs[0], "make") != nil
	}
	return false
}

// appendsTo reports whether an assignment is v = append(v, …).
func (s *site) appendsTo(n *ast.AssignStmt, v *types.Var) bool {
	if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
		return false
	}
	call := s.Builtin(n.Rhs[0], "append")
	return call != nil && s.Local(n.Lhs[0]) == v && s.Local(call.Args[0]) == v
}

// madeBefore is the expression that makes a local slice empty, but not nil, in a statement before
// a loop, and its type; nil if the count may change between.
func (s *site) madeBefore(loop inspector.Cursor, dst, count ast.Expr) (made ast.Expr, elem ast.Expr) {
	v := s.Local(dst)
	if v == nil {
		return nil, nil
	}
	init := s.initialiser(loop, v, count)
	switch e := init.(type) {
	case *ast.CompositeLit:
		if len(e.Elts) == 0 && e.Type != nil {
			return e, e.Type
		}
	case *ast.CallExpr:
		if s.Builtin(e, "make") != nil && len(e.Args) == 2 && s.IsZero(e.Args[1]) {
			return e, e.Args[0]
		}
	}
	return nil, nil
}

// initialiser is the expression with which a variable is defined in a statement before another
// in the same list; nil if count may have another value there.
func (s *site) initialiser(stmt inspector.Cursor, v *types.Var, count ast.Expr) ast.Expr {
	for c, ok := stmt.PrevSibling(); ok; c, ok = c.PrevSibling() {
		assign, is := c.Node().(*ast.AssignStmt)
		if !is || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || s.Local(assign.Lhs[0]) != v {
			continue
		}
		if count != nil && (s.DeclaredAfter(count, c.Node().Pos()) ||
			s.Changed(count, stmt.Parent().Node(), c.Node().End(), stmt.Node().Pos())) {
			return nil
		}
		return assign.Rhs[0]
	}
	return nil
}

// PresizeMap makes a map with the number of entries that a loop inserts.
func PresizeMap(on *code.Site) []code.Edit {
	s := &site{on}
	index, ok := s.Cur.Node().(*ast.IndexExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.AssignStmt_Lhs {
		return s.mapMade()
	}
	v := s.Local(index.X)
	if v == nil {
		return nil
	}
	return s.sizeMap(s.Cur, v)
}

// mapMade looks for the loop that fills a map that is made at the site.
func (s *site) mapMade() []code.Edit {
	if s.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	e, ok := s.Cur.Node().(ast.Expr)
	assign := s.Cur.Parent().Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || assign.Tok != token.DEFINE || s.emptyMap(e) == "" {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		if u.ParentEdgeKind() == edge.IndexExpr_X && u.Parent().ParentEdgeKind() == edge.AssignStmt_Lhs {
			return s.sizeMap(u.Parent(), v)
		}
	}
	return nil
}

// sizeMap gives the map v the size of the loop around an insertion.
func (s *site) sizeMap(insert inspector.Cursor, v *types.Var) []code.Edit {
	plainBody := true
	for loop := range insert.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.IfStmt)(nil),
		(*ast.CaseClause)(nil), (*ast.FuncLit)(nil)) {
		switch loop.Node().(type) {
		case *ast.FuncLit:
			return nil
		case *ast.ForStmt, *ast.RangeStmt:
		default:
			plainBody = false
			continue
		}
		t := s.trips(loop)
		if t.text == "" {
			return nil
		}
		init := s.initialiser(loop, v, t.expr)
		if init == nil {
			return nil
		}
		text := s.emptyMap(init)
		if text == "" {
			return nil
		}
		open := t.open
		if !plainBody && open == "" {
			open = "the map is larger than it must be where few of the elements are put into it"
		}
		return []code.Edit{{Open: open, Text: fmt.Sprintf("make `%s` with room for %s entries", v.Name(), t.text),
			Changes: []code.Change{s.Replace(init, fmt.Sprintf("make(%s, %s)", text, t.text))}}}
	}
	return nil
}

// emptyMap is the type of an expression that makes a map without a size; "" for others.
func (s *site) emptyMap(e ast.Expr) string {
	t := s.Info().TypeOf(e)
	if t == nil {
		return ""
	}
	if _, ok := t.Underlying().(*types.Map); !ok {
		return ""
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		if len(e.Elts) == 0 && e.Type != nil {
			return s.Source(e.Type)
		}
	case *ast.CallExpr:
		if s.Builtin(e, "make") != nil && len(e.Args) == 1 {
			return s.Source(e.Args[0])
		}
	}
	return ""
}
