package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// EmptyInstead empties a slice, map or buffer in a field where it is dropped or made anew, so that what it grew
// to is used again. The site is the statement that drops it, or one that makes it grow.
func EmptyInstead(on *code.Site) []code.Edit {
	s := &site{on}
	switch n := s.Cur.Node().(type) {
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN && len(n.Lhs) == 1 && len(n.Rhs) == 1 {
			return s.emptied(s.File, n)
		}
	case *ast.CallExpr:
		return s.grownField(n)
	case *ast.IndexExpr:
		if _, isMap := s.Info().TypeOf(n.X).Underlying().(*types.Map); isMap && s.Cur.ParentEdgeKind() == edge.AssignStmt_Lhs {
			return s.droppedElsewhere(n.X)
		}
	}
	return nil
}

// grownField finds the places that drop the field that a call makes grow: by append, or a method of a buffer.
func (s *site) grownField(call *ast.CallExpr) []code.Edit {
	if s.Cur.ParentEdgeKind() == edge.AssignStmt_Rhs {
		assign := s.Cur.Parent().Node().(*ast.AssignStmt)
		if len(assign.Lhs) == 1 && len(call.Args) > 0 && s.Source(assign.Lhs[0]) == s.Source(call.Args[0]) {
			return s.droppedElsewhere(assign.Lhs[0])
		}
	}
	return nil
}

// droppedElsewhere are the edits of the statements of the package that drop a field.
func (s *site) droppedElsewhere(e ast.Expr) []code.Edit {
	field := s.fieldOf(s.File, e)
	if field == nil {
		return nil
	}
	var out []code.Edit
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.AssignStmt)(nil)) {
			n := c.Node().(*ast.AssignStmt)
			if n.Tok != token.ASSIGN || len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				continue
			}
			if f.Info().TypeOf(n.Lhs[0]) != nil && s.fieldOf(f, n.Lhs[0]) == field {
				out = append(out, s.emptied(f, n)...)
			} else {
				out = append(out, s.overwritten(f, n, field)...)
			}
		}
	}
	return out
}

// fieldOf is the field of a struct of the package that an expression names, through a receiver or a parameter.
func (s *site) fieldOf(f *code.File, e ast.Expr) *types.Var {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v, ok := f.Info().ObjectOf(sel.Sel).(*types.Var)
	if !ok || !v.IsField() || v.Pkg() != s.Pkg.Types || !f.Pure(sel.X) {
		return nil
	}
	return v
}

// emptied is the edit of a statement that drops a field.
func (s *site) emptied(f *code.File, n *ast.AssignStmt) []code.Edit {
	field := s.fieldOf(f, n.Lhs[0])
	name := f.Source(n.Lhs[0])
	if field == nil || s.madeIn(f, n, n.Lhs[0]) || s.asksFor(f, n, field) {
		return nil
	}
	var lines []string
	switch u := field.Type().Underlying().(type) {
	case *types.Slice:
		if s.noSlice(f, n.Rhs[0]) {
			lines = cut(f, name, u)
		} else {
			lines = s.sized(f, n, field, u)
		}
		if lines == nil {
			return nil
		}
	case *types.Map:
		switch {
		case !f.Since("go1.21"):
			return nil
		case f.Info().Types[n.Rhs[0]].IsNil():
			lines = []string{fmt.Sprintf("clear(%s)", name)}
		case s.newMap(f, n.Rhs[0]):
			lines = []string{fmt.Sprintf("if %s == nil {\n%s\n} else {\nclear(%[1]s)\n}", name, f.Source(n))}
		default:
			return nil
		}
	default:
		if lines = s.buffer(f, n, name); lines == nil {
			return nil
		}
	}
	return []code.Edit{s.in(f, code.Edit{Open: s.seen(field, name), Text: fmt.Sprintf("empty `%s` instead of dropping what it has grown to", name),
		Changes: []code.Change{f.Replace(n, strings.Join(lines, "\n"))}})}
}

// in is an edit whose changes are of another file of the package, as one of the site's.
func (s *site) in(f *code.File, e code.Edit) code.Edit {
	if f.Name != s.Name {
		e.Also = []code.Part{{File: f.Name, Changes: e.Changes, Imports: e.Imports}}
		e.Changes, e.Imports = nil, nil
	}
	return e
}

// cut are the statements that empty a slice and keep its array; references in it are let go.
func cut(f *code.File, name string, u *types.Slice) []string {
	line := fmt.Sprintf("%s = %[1]s[:0]", name)
	if code.PointerFree(u.Elem()) {
		return []string{line}
	}
	if f.Since("go1.21") {
		return []string{fmt.Sprintf("clear(%s)", name), line}
	}
	zero := "nil"
	switch e := u.Elem().Underlying().(type) {
	case *types.Basic:
		if e.Kind() == types.String {
			zero = `""`
		}
	case *types.Struct, *types.Array:
		text := f.TypeText(u.Elem())
		if text == "" {
			return nil
		}
		zero = text + "{}"
	}
	return []string{fmt.Sprintf("for i := range %s {\n%[1]s[i] = %s\n}", name, zero), line}
}

// sized are the statements that give a field its length where it was made anew with that length: of the array
// that it has, if that is long enough, and of a new one else.
func (s *site) sized(f *code.File, n *ast.AssignStmt, field *types.Var, u *types.Slice) []string {
	call := f.Builtin(n.Rhs[0], "make")
	if call == nil || len(call.Args) < 2 || !f.Since("go1.21") {
		return nil
	}
	for _, size := range call.Args[1:] {
		if !f.PureSize(size) || s.mentions(f, size, field) {
			return nil
		}
	}
	name, length, room := f.Source(n.Lhs[0]), f.Source(call.Args[1]), f.Source(call.Args[len(call.Args)-1])
	again := fmt.Sprintf("%s = %[1]s[:%s]\nclear(%[1]s)", name, length)
	switch {
	case f.IsZero(call.Args[1]):
		again = strings.Join(cut(f, name, u), "\n")
	case !code.PointerFree(u.Elem()):
		again = fmt.Sprintf("clear(%s[:cap(%[1]s)])\n%[1]s = %[1]s[:%s]", name, length)
	}
	return []string{fmt.Sprintf("if cap(%s) < %s {\n%s\n} else {\n%s\n}", name, room, f.Source(n), again)}
}

// mentions reports whether code names a field.
func (s *site) mentions(f *code.File, n ast.Node, field *types.Var) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && f.Info().ObjectOf(id) == types.Object(field)
		return !found
	})
	return found
}

// asksFor reports whether a statement is in a branch of a condition that names a field: that it is missing, or
// too short; or of one that compares by order: what it drops there has grown beyond a bound.
func (s *site) asksFor(f *code.File, n ast.Node, field *types.Var) bool {
	c, ok := f.Root.FindNode(n)
	if !ok {
		return true
	}
	for c := range c.Enclosing((*ast.IfStmt)(nil), (*ast.FuncDecl)(nil)) {
		if guard, ok := c.Node().(*ast.IfStmt); ok && (s.mentions(f, guard.Cond, field) || bounds(guard.Cond)) {
			return true
		}
	}
	return false
}

// bounds reports whether a condition compares by order.
func bounds(cond ast.Expr) bool {
	found := false
	ast.Inspect(cond, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok {
			switch b.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				found = true
			}
		}
		return !found
	})
	return found
}

// noSlice reports whether an expression is a slice without elements or room.
func (s *site) noSlice(f *code.File, e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.CallExpr:
		if f.Builtin(e, "make") != nil {
			return len(e.Args) == 2 && f.IsZero(e.Args[1])
		}
		return f.Info().Types[e.Fun].IsType() && len(e.Args) == 1 && f.Info().Types[e.Args[0]].IsNil()
	}
	return f.Info().Types[e].IsNil()
}

// newMap reports whether an expression makes an empty map.
func (s *site) newMap(f *code.File, e ast.Expr) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	return f.Builtin(e, "make") != nil
}

// buffer are the statements that reset a bytes.Buffer where it is made anew.
func (s *site) buffer(f *code.File, n *ast.AssignStmt, name string) []string {
	t := f.Info().TypeOf(n.Lhs[0])
	if !code.Named(t, "bytes.Buffer") {
		return nil
	}
	if lit, ok := n.Rhs[0].(*ast.CompositeLit); ok && len(lit.Elts) == 0 {
		return []string{name + ".Reset()"}
	}
	made := f.Builtin(n.Rhs[0], "new") != nil
	switch e := n.Rhs[0].(type) {
	case *ast.UnaryExpr:
		lit, ok := e.X.(*ast.CompositeLit)
		made = ok && len(lit.Elts) == 0
	case *ast.CallExpr:
		made = made || f.Callee(e) == "bytes.NewBuffer" && f.Info().Types[e.Args[0]].IsNil()
	}
	if !made {
		return nil
	}
	return []string{fmt.Sprintf("if %s == nil {\n%s\n} else {\n%[1]s.Reset()\n}", name, f.Source(n))}
}

// overwritten is the edit of `*x = T{…}` that keeps a field which the literal leaves out.
func (s *site) overwritten(f *code.File, n *ast.AssignStmt, field *types.Var) []code.Edit {
	star, ok := n.Lhs[0].(*ast.StarExpr)
	lit, isLit := n.Rhs[0].(*ast.CompositeLit)
	if !ok || !isLit || !f.Pure(star.X) || s.madeIn(f, n, star.X) {
		return nil
	}
	st, ok := f.Info().TypeOf(lit).Underlying().(*types.Struct)
	slice, isSlice := field.Type().Underlying().(*types.Slice)
	if !ok || !isSlice || !hasField(st, field) {
		return nil
	}
	for _, e := range lit.Elts {
		kv, keyed := e.(*ast.KeyValueExpr)
		if !keyed || f.Source(kv.Key) == field.Name() {
			return nil
		}
	}
	x := f.Source(star.X)
	lines := cut(f, x+"."+field.Name(), slice)
	if lines == nil {
		return nil
	}
	kept := fmt.Sprintf("%s: %s.%[1]s[:0]", field.Name(), x)
	if len(lit.Elts) > 0 {
		kept = ", " + kept
		if strings.Contains(string(f.Text[f.Offset(lit.Elts[len(lit.Elts)-1].End()):f.Offset(lit.Rbrace)]), ",") {
			kept = kept[2:] + ",\n"
		}
	}
	changes := []code.Change{f.Insert(f.Offset(lit.Rbrace), kept)}
	if len(lines) > 1 {
		changes = append(changes, f.Before(n, lines[:len(lines)-1]...))
	}
	return []code.Edit{s.in(f, code.Edit{Open: s.seen(field, x+"."+field.Name()), Changes: changes,
		Text: fmt.Sprintf("keep what `%s.%s` has grown to where `%[1]s` is reset", x, field.Name())})}
}

func hasField(st *types.Struct, field *types.Var) bool {
	for f := range st.Fields() {
		if f == field {
			return true
		}
	}
	return false
}

// madeIn reports whether the variable that an expression begins with is made in the function around a
// statement: then there is nothing to use again.
func (s *site) madeIn(f *code.File, n ast.Node, e ast.Expr) bool {
	c, ok := f.Root.FindNode(n)
	v, isVar := f.RootOf(e).(*types.Var)
	if !ok || !isVar {
		return true
	}
	fn := code.Declaration(c)
	if fn == nil {
		return true
	}
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
		if list != nil && list.Pos() <= v.Pos() && v.Pos() < list.End() {
			_, pointer := v.Type().Underlying().(*types.Pointer)
			return !pointer
		}
	}
	return !s.taken(f, v, c)
}

// taken reports whether a variable of a function is what a pool or another variable had.
func (s *site) taken(f *code.File, v *types.Var, in inspector.Cursor) bool {
	fn, body := code.Function(in)
	if body == nil {
		return false
	}
	for _, u := range f.Uses(v, fn) {
		if u.Node().Pos() != v.Pos() || u.ParentEdgeKind() != edge.AssignStmt_Lhs {
			continue
		}
		assign := u.Parent().Node().(*ast.AssignStmt)
		if len(assign.Rhs) != 1 {
			return false
		}
		switch e := assign.Rhs[0].(type) {
		case *ast.SelectorExpr, *ast.Ident:
			return true
		case *ast.TypeAssertExpr:
			call, ok := e.X.(*ast.CallExpr)
			return ok && f.Callee(call) == "(*sync.Pool).Get"
		}
	}
	return false
}

// seen asks who may still have what a field held, or see that it is no longer nil; "" where the package shows that
// nobody can: the field is not exported, only its elements and its length are looked at.
func (s *site) seen(field *types.Var, name string) string {
	open := fmt.Sprintf("nobody must still have what `%s` held, or ask whether it is nil", name)
	if field.Exported() {
		return open
	}
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.SelectorExpr)(nil)) {
			if f.Info().ObjectOf(c.Node().(*ast.SelectorExpr).Sel) == types.Object(field) && !looked(f, c) {
				return open
			}
		}
	}
	return ""
}

// looked reports whether a use of a field leaves what it holds where it is: an element by value, the length, a
// loop, a copy, a statement that sets it, or appends to it.
func looked(f *code.File, c inspector.Cursor) bool {
	for c.ParentEdgeKind() == edge.ParenExpr_X {
		c = c.Parent()
	}
	switch c.ParentEdgeKind() {
	case edge.IndexExpr_X:
		if c.Parent().ParentEdgeKind() == edge.UnaryExpr_X || c.Parent().ParentEdgeKind() == edge.SliceExpr_X {
			return false
		}
		return c.Parent().ParentEdgeKind() != edge.SelectorExpr_X || isBasic(f, c.Parent().Parent())
	case edge.RangeStmt_X:
		return true
	case edge.AssignStmt_Lhs:
		assign := c.Parent().Node().(*ast.AssignStmt)
		return len(assign.Rhs) == 1 && setsItself(f, c.Node().(ast.Expr), assign.Rhs[0])
	case edge.SliceExpr_X:
		return c.Parent().ParentEdgeKind() == edge.AssignStmt_Rhs && sameTarget(f, c)
	case edge.CallExpr_Args:
		call := c.Parent().Node().(*ast.CallExpr)
		switch {
		case f.Builtin(call, "len") != nil, f.Builtin(call, "cap") != nil, f.Builtin(call, "clear") != nil, f.Builtin(call, "delete") != nil:
			return true
		case f.Builtin(call, "copy") != nil:
			return true
		case f.Builtin(call, "append") != nil:
			return call.Args[0] != c.Node() && call.Ellipsis.IsValid() || call.Args[0] == c.Node() && c.Parent().ParentEdgeKind() == edge.AssignStmt_Rhs &&
				f.Source(c.Parent().Parent().Node().(*ast.AssignStmt).Lhs[0]) == f.Source(c.Node())
		case f.Info().Types[call.Fun].IsType():
			return code.IsString(f.Info().TypeOf(call))
		}
	case edge.SelectorExpr_X: // a method of a buffer that hands nothing out
		return c.Parent().ParentEdgeKind() == edge.CallExpr_Fun && c.Parent().Node().(*ast.SelectorExpr).Sel.Name != "Bytes" &&
			code.Named(f.Info().TypeOf(c.Node().(ast.Expr)), "bytes.Buffer")
	}
	return false
}

func isBasic(f *code.File, c inspector.Cursor) bool {
	e, ok := c.Node().(ast.Expr)
	return ok && code.Basic(f.Info().TypeOf(e)) != nil
}

// setsItself reports whether a field gets new memory, nothing, or a part of what it had.
func setsItself(f *code.File, field, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		if f.Builtin(e, "append") != nil {
			return f.Source(e.Args[0]) == f.Source(field) || strings.HasPrefix(f.Source(e.Args[0]), f.Source(field)+"[")
		}
		return f.Builtin(e, "make") != nil || f.Info().Types[e.Fun].IsType() && f.Info().Types[e.Args[0]].IsNil()
	case *ast.SliceExpr:
		return f.Source(e.X) == f.Source(field)
	case *ast.CompositeLit:
		return true
	}
	return f.Info().Types[e].IsNil()
}

func sameTarget(f *code.File, c inspector.Cursor) bool {
	assign := c.Parent().Parent().Node().(*ast.AssignStmt)
	return len(assign.Lhs) == 1 && f.Source(assign.Lhs[0]) == f.Source(c.Node())
}
