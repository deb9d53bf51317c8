package sum

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

// CollectText makes a string that a function only adds to a strings.Builder: its String shows what there is
// without a copy, also in between.
func CollectText(on *code.Site) []code.Edit {
	s := &site{on}
	assign, ok := s.Cur.Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || !s.Since("go1.10") {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || !types.Identical(v.Type(), types.Typ[types.String]) || s.added(assign, v) == nil {
		return nil
	}
	t := &gathered{in: s, v: v, fn: fn, builder: v.Name()}
	name, imports, ok := s.Use("strings", body.Pos())
	if !ok || !t.begin(name, body) {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		if u.Node().Pos() != v.Pos() && !t.use(u) {
			return nil
		}
	}
	if t.adds < 2 && !t.looped {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("collect `%s` in a strings.Builder", v.Name()), Imports: imports, Changes: t.changes}}
}

// gathered is a string that a function adds to, on the way to a builder.
type gathered struct {
	in      *site
	v       *types.Var
	fn      inspector.Cursor
	builder string // its name
	adds    int
	looped  bool // a loop adds to it
	changes []code.Change
}

// begin declares the builder in place of the string, or at the top of the function for a result.
func (t *gathered) begin(pkg string, body *ast.BlockStmt) bool {
	if _, results := code.Signature(t.fn); results != nil && results.Pos() <= t.v.Pos() && t.v.Pos() < results.End() {
		builder := t.in.Fresh(t.v.Name()+"Builder", t.v.Pos())
		if results.NumFields() != 1 || len(body.List) == 0 || t.defers(body, builder) {
			return false
		}
		t.builder = builder
		t.changes = append(t.changes, t.in.Before(body.List[0], fmt.Sprintf("var %s %s.Builder", t.builder, pkg)))
		return true
	}
	for _, u := range t.in.Uses(t.v, t.fn) {
		stmt, listed := code.Statement(u)
		if u.Node().Pos() != t.v.Pos() || !listed {
			continue
		}
		var value ast.Expr
		switch n := stmt.Node().(type) {
		case *ast.AssignStmt:
			if len(n.Lhs) != 1 || len(n.Rhs) != 1 {
				return false
			}
			value = n.Rhs[0]
		case *ast.DeclStmt:
			spec := code.OnlySpec(n)
			if spec == nil || len(spec.Values) > 1 {
				return false
			}
			if len(spec.Values) == 1 {
				value = spec.Values[0]
			}
		default:
			return false
		}
		lines := []string{fmt.Sprintf("var %s %s.Builder", t.builder, pkg)}
		if value != nil {
			if t.mentions(value, t.v.Name()) {
				return false
			}
			if text, is := t.in.ConstString(value); !is || text != "" {
				lines = append(lines, fmt.Sprintf("%s.WriteString(%s)", t.builder, t.in.Source(value)))
			}
		}
		t.changes = append(t.changes, t.in.Replace(stmt.Node(), strings.Join(lines, "\n")))
		return true
	}
	return false
}

// defers reports whether a function defers anything: that may see a result which is not whole. Returns without
// a result get the builder's.
func (t *gathered) defers(body *ast.BlockStmt, builder string) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = true
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				t.changes = append(t.changes, t.in.Replace(n, "return "+builder+".String()"))
			}
		}
		return !found
	})
	return found
}

// mentions reports whether an expression names something by a name.
func (t *gathered) mentions(e ast.Expr, name string) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

// concatenated are the operands of a chain of +.
func concatenated(e ast.Expr) []ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return append(concatenated(b.X), concatenated(b.Y)...)
	}
	return []ast.Expr{e}
}

// added is what a statement adds to a string: v += x, or v = v + x; nil for others.
func (s *site) added(n *ast.AssignStmt, v *types.Var) []ast.Expr {
	if len(n.Lhs) != 1 || s.Local(n.Lhs[0]) != v {
		return nil
	}
	parts := concatenated(n.Rhs[0])
	switch {
	case n.Tok == token.ADD_ASSIGN:
		return parts
	case n.Tok == token.ASSIGN && len(parts) > 1 && s.Local(parts[0]) == v:
		return parts[1:]
	}
	return nil
}

// use takes one use of the string: what adds to it, empties it, or reads it.
func (t *gathered) use(u inspector.Cursor) bool {
	if !code.Within(u, t.fn) {
		return false
	}
	if assign, ok := u.Parent().Node().(*ast.AssignStmt); ok && u.ParentEdgeKind() == edge.AssignStmt_Lhs {
		return t.add(u, assign)
	}
	if u.ParentEdgeKind() == edge.UnaryExpr_X {
		return false
	}
	for c := range u.Enclosing((*ast.AssignStmt)(nil)) {
		if t.in.added(c.Node().(*ast.AssignStmt), t.v) != nil {
			return u.ParentEdgeKind() == edge.BinaryExpr_X && t.in.Local(u.Node().(ast.Expr)) == t.v && t.leftmost(u, c)
		}
	}
	read := t.builder + ".String()"
	if u.ParentEdgeKind() == edge.CallExpr_Args && t.in.Builtin(u.Parent().Node().(ast.Expr), "len") != nil {
		t.changes = append(t.changes, t.in.Replace(u.Parent().Node(), t.builder+".Len()"))
		return true
	}
	t.changes = append(t.changes, t.in.Replace(u.Node(), read))
	return true
}

// leftmost reports whether a use is the first operand of what a statement assigns, which add takes.
func (t *gathered) leftmost(u, stmt inspector.Cursor) bool {
	e := ast.Unparen(stmt.Node().(*ast.AssignStmt).Rhs[0])
	for {
		b, ok := e.(*ast.BinaryExpr)
		if !ok {
			return e == u.Node()
		}
		e = ast.Unparen(b.X)
	}
}

// add takes a statement that adds to the string, or empties it.
func (t *gathered) add(u inspector.Cursor, n *ast.AssignStmt) bool {
	stmt, listed := code.Statement(u)
	if !listed || stmt.Node() != ast.Node(n) {
		return false
	}
	if text, is := t.in.ConstString(n.Rhs[0]); is && text == "" && n.Tok == token.ASSIGN && len(n.Lhs) == 1 {
		t.changes = append(t.changes, t.in.Replace(n, t.builder+".Reset()"))
		return true
	}
	parts := t.in.added(n, t.v)
	if parts == nil {
		return false
	}
	var lines []string
	for _, part := range parts {
		lines = append(lines, fmt.Sprintf("%s.WriteString(%s)", t.builder, t.in.Source(part)))
	}
	t.changes = append(t.changes, t.in.Replace(n, strings.Join(lines, "\n")))
	t.adds++
	for loop := range stmt.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		t.looped = t.looped || loop.Node().Pos() > t.v.Pos()
	}
	return true
}
