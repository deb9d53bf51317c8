package sum

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CollectText makes a string that a function only adds to a strings.Builder: its String shows what there is
// without a copy, also in between.
func CollectText(on *code.Site) []code.Edit { return (&site{on}).collect(0) }

// CollectOnStack collects such a string in an array on the stack, as long as it was seen to become, and makes it of that
// once: a strings.Builder grows on the way.
func CollectOnStack(on *code.Site) []code.Edit {
	s := &site{on}
	const least = 32
	if len(s.Place.Sizes) == 0 {
		return nil
	}
	if n := s.Room(least); n > 0 {
		return s.collect(n)
	}
	return nil
}

// collect lets a strings.Builder take what a string is added, or a slice of an array of so many bytes.
func (s *site) collect(array int64) []code.Edit {
	assign, ok := s.Cur.Node().(*ast.AssignStmt)
	if !ok || len(assign.Lhs) != 1 || !s.Since("go1.10") {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || !types.Identical(v.Type(), types.Typ[types.String]) || s.added(assign, v) == nil && s.fronted(assign, v) == nil {
		return nil
	}
	t := &gathered{in: s, v: v, fn: fn, builder: v.Name(), array: array}
	name, imports, ok := "", []string(nil), true
	if array == 0 {
		name, imports, ok = s.Use("strings", body.Pos())
	}
	uses := s.Uses(v, fn)
	if !ok || !t.settle(uses, body) || t.settled(assign.Pos()) || !t.begin(name, body) {
		return nil
	}
	for _, u := range uses {
		if u.Node().Pos() != v.Pos() && !t.settled(u.Node().Pos()) && !t.use(u) {
			return nil
		}
	}
	if t.adds < 2 && !t.looped || array > 0 && t.copies > 1 {
		return nil
	}
	text := fmt.Sprintf("collect `%s` in a strings.Builder", v.Name())
	if array > 0 {
		text = fmt.Sprintf("collect `%s` in an array of %d bytes on the stack", v.Name(), array)
	}
	return []code.Edit{{Text: text, Imports: imports, Changes: t.changes}}
}

// gathered is a string that a function adds to, on the way to a builder.
type gathered struct {
	in      *site
	v       *types.Var
	fn      inspector.Cursor
	builder string // its name
	array   int64  // bytes on the stack that take what is added, in place of a builder; 0 for none
	adds    int
	copies  int       // of the whole text that are made of such an array
	looped  bool      // a loop adds to it
	whole   token.Pos // of the statement from which the string is one again, as that sets it to something else; none where nothing does
	changes []code.Change
}

// settled reports whether a place is behind the last that the builder is for.
func (t *gathered) settled(at token.Pos) bool { return t.whole.IsValid() && at >= t.whole }

// settle finds the first statement that sets the string to something else, as one that cuts the last separator off: there
// the string gets the collected text. It is false where a loop may run the statements before it again.
func (t *gathered) settle(uses []inspector.Cursor, body *ast.BlockStmt) bool {
	block := ast.Node(body)
	for _, u := range uses {
		if stmt, listed := code.Statement(u); u.Node().Pos() == t.v.Pos() && listed {
			block = stmt.Parent().Node()
		}
		assign, sets := u.Parent().Node().(*ast.AssignStmt)
		if u.ParentEdgeKind() != edge.AssignStmt_Lhs || !sets || u.Node().Pos() == t.v.Pos() || t.in.added(assign, t.v) != nil || t.in.fronted(assign, t.v) != nil ||
			t.empties(assign) {
			continue
		}
		for c := range u.Enclosing() {
			if c.Node() == block {
				return false
			}
			if c.Parent().Node() == block && c.ParentEdgeKind() == edge.BlockStmt_List {
				t.whole = c.Node().Pos()
				t.rename()
				t.changes = append(t.changes, t.in.Before(c.Node(), t.v.Name()+" = "+t.method("String")))
				t.copies++
				return true
			}
		}
		return false
	}
	return true
}

// empties reports whether a statement makes the string empty.
func (t *gathered) empties(n *ast.AssignStmt) bool {
	text, is := t.in.ConstString(n.Rhs[0])
	return is && text == "" && n.Tok == token.ASSIGN && len(n.Lhs) == 1
}

// declare is the statement that declares what takes the text.
func (t *gathered) declare(pkg string) string {
	if t.array == 0 {
		return fmt.Sprintf("var %s %s.Builder", t.builder, pkg)
	}
	array := t.in.Fresh(t.builder+"Array", t.v.Pos())
	return fmt.Sprintf("var %s [%d]byte\n%s := %[1]s[:0]", array, t.array, t.builder)
}

// write is the statement that adds a part.
func (t *gathered) write(part string) string {
	if t.array == 0 {
		return fmt.Sprintf("%s.WriteString(%s)", t.builder, part)
	}
	return fmt.Sprintf("%s = append(%[1]s, %s...)", t.builder, part)
}

// method is what asks a builder, or the slice in its place: for its String, Len or Reset.
func (t *gathered) method(name string) string {
	if t.array == 0 {
		return t.builder + "." + name + "()"
	}
	return fmt.Sprintf(map[string]string{"String": "string(%s)", "Len": "len(%s)", "Reset": "%s = %[1]s[:0]"}[name], t.builder)
}

// rename gives what takes the text a name beside the string's.
func (t *gathered) rename() {
	kind := "Builder"
	if t.array > 0 {
		kind = "Bytes"
	}
	t.builder = t.in.Fresh(t.v.Name()+kind, t.v.Pos())
}

// begin declares the builder in place of the string, or at the top of the function for a result.
func (t *gathered) begin(pkg string, body *ast.BlockStmt) bool {
	if _, results := code.Signature(t.fn); results != nil && results.Pos() <= t.v.Pos() && t.v.Pos() < results.End() {
		t.rename()
		if results.NumFields() != 1 || len(body.List) == 0 || t.defers(body) {
			return false
		}
		t.changes = append(t.changes, t.in.Before(body.List[0], t.declare(pkg)))
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
			if spec == nil {
				return t.retype(code.SpecOf(n, t.v), pkg)
			}
			if len(spec.Values) > 1 {
				return false
			}
			if len(spec.Values) == 1 {
				value = spec.Values[0]
			}
		default:
			return false
		}
		lines := []string{t.declare(pkg)}
		if t.whole.IsValid() {
			lines = []string{t.in.Source(stmt.Node()), lines[0]}
		}
		if value != nil {
			if mentions(value, t.v.Name()) {
				return false
			}
			if text, is := t.in.ConstString(value); !is || text != "" {
				first := t.in.Source(value)
				if t.whole.IsValid() {
					first = t.v.Name()
				}
				lines = append(lines, t.write(first))
			}
		}
		t.changes = append(t.changes, t.in.Replace(stmt.Node(), strings.Join(lines, "\n")))
		return true
	}
	return false
}

// retype makes a builder of the string in a declaration of several variables.
func (t *gathered) retype(spec *ast.ValueSpec, pkg string) bool {
	if spec == nil || len(spec.Names) != 1 || len(spec.Values) > 0 || t.array > 0 || t.whole.IsValid() {
		return false
	}
	t.changes = append(t.changes, t.in.Replace(spec.Type, pkg+".Builder"))
	return true
}

// defers reports whether a function defers anything: that may see a result which is not whole. Returns without
// a result get the builder's.
func (t *gathered) defers(body *ast.BlockStmt) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.DeferStmt:
			found = true
		case *ast.ReturnStmt:
			if len(n.Results) == 0 && !t.settled(n.Pos()) {
				t.changes = append(t.changes, t.in.Replace(n, "return "+t.method("String")))
			}
		}
		return !found
	})
	return found
}

// mentions reports whether an expression names something by a name.
func mentions(e ast.Expr, name string) bool {
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

// fronted is what a statement puts in front of a string, as v = x + v does; nil for others.
func (s *site) fronted(n *ast.AssignStmt, v *types.Var) []ast.Expr {
	if len(n.Lhs) != 1 || s.Local(n.Lhs[0]) != v || n.Tok != token.ASSIGN {
		return nil
	}
	parts := concatenated(n.Rhs[0])
	last := len(parts) - 1
	if last == 0 || s.Local(parts[last]) != v || slices.ContainsFunc(parts[:last], func(e ast.Expr) bool { return mentions(e, v.Name()) }) {
		return nil
	}
	return parts[:last]
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
		if n := c.Node().(*ast.AssignStmt); t.in.fronted(n, t.v) != nil {
			return true // its last operand, which is in the slice
		} else if t.in.added(n, t.v) != nil {
			return u.ParentEdgeKind() == edge.BinaryExpr_X && t.in.Local(u.Node().(ast.Expr)) == t.v && t.leftmost(u, c)
		}
	}
	if u.ParentEdgeKind() == edge.CallExpr_Args && t.in.Builtin(u.Parent().Node().(ast.Expr), "len") != nil {
		t.changes = append(t.changes, t.in.Replace(u.Parent().Node(), t.method("Len")))
		return true
	}
	if !t.lookedUp(u) {
		t.copies++
		for loop := range u.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
			if loop.Node().Pos() > t.v.Pos() {
				t.copies++ // one in each turn
			}
		}
	}
	t.changes = append(t.changes, t.in.Replace(u.Node(), t.method("String")))
	return true
}

// lookedUp reports whether a use is the key of a map that is read, or compared: bytes are a string there without a copy.
func (t *gathered) lookedUp(u inspector.Cursor) bool {
	switch u.ParentEdgeKind() {
	case edge.IndexExpr_Index:
		m := t.in.Info().TypeOf(u.Parent().Node().(*ast.IndexExpr).X)
		_, isMap := m.Underlying().(*types.Map)
		return isMap && u.Parent().ParentEdgeKind() != edge.AssignStmt_Lhs
	case edge.BinaryExpr_X, edge.BinaryExpr_Y:
		op := u.Parent().Node().(*ast.BinaryExpr).Op
		return op == token.EQL || op == token.NEQ
	}
	return false
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
	if t.empties(n) {
		t.changes = append(t.changes, t.in.Replace(n, t.method("Reset")))
		return true
	}
	if front := t.in.fronted(n, t.v); front != nil && t.array > 0 {
		t.inFront(n, front)
		t.count(stmt)
		return true
	}
	parts := t.in.added(n, t.v)
	if parts == nil {
		return false
	}
	// The parts stay as they are, so that other edits can change them.
	open, end, _ := strings.Cut(t.write("\x00"), "\x00")
	at := n.Pos()
	for i, part := range parts {
		before := open
		if i > 0 {
			before = end + "\n" + open
		}
		t.changes = append(t.changes, code.Change{From: t.in.Offset(at), To: t.in.Offset(part.Pos()), Text: before})
		at = part.End()
	}
	t.changes = append(t.changes, code.Change{From: t.in.Offset(at), To: t.in.Offset(n.End()), Text: end})
	t.count(stmt)
	return true
}

// count notes a statement that adds to the string.
func (t *gathered) count(stmt inspector.Cursor) {
	t.adds++
	for loop := range stmt.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		t.looped = t.looped || loop.Node().Pos() > t.v.Pos()
	}
}

// inFront makes room in front of what the slice has, and copies the parts there.
func (t *gathered) inFront(n *ast.AssignStmt, parts []ast.Expr) {
	part := t.in.Fresh("part", n.Pos())
	text := string(t.in.Text[t.in.Offset(parts[0].Pos()):t.in.Offset(parts[len(parts)-1].End())])
	t.changes = append(t.changes, t.in.Replace(n, fmt.Sprintf("%s := %s\n%s = append(%[3]s, %[1]s...)\ncopy(%[3]s[len(%[1]s):], %[3]s)\ncopy(%[3]s, %[1]s)",
		part, text, t.builder)))
}
