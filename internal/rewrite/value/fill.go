package value

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// largestFilled bounds what stays on a caller's stack, in bytes: to clear more costs what the heap would.
const largestFilled = 1 << 10

// FillForCaller parts a function that returns a pointer to a new value in two: one that makes the value, so
// short that it is inlined, and one that fills it. In callers that do not keep the value, it then stays on the stack.
func FillForCaller(on *code.Site) []code.Edit {
	s := &site{on}
	decl := code.Declaration(s.Cur)
	if decl == nil || decl.Body == nil || code.HasTypeParams(decl) || hasDirective(decl) || s.Place.Outlives {
		return nil
	}
	fn, ok := s.Root.FindNode(decl)
	if !ok || !code.Within(s.Cur, fn) || isShort(fn, decl) || s.asksCallers() {
		return nil
	}
	f := &filled{site: s, decl: decl, fn: fn}
	if !f.once(s.Cur) || !f.signature() || !f.maker() {
		return nil
	}
	head := f.head()
	_, line, _ := strings.Cut(head, "\t")
	line, _, _ = strings.Cut(line, "\n")
	return []code.Edit{{
		Text:    fmt.Sprintf("make %s no more than `%s`, which is inlined, and fill the %s there", decl.Name.Name, code.Brief(line), f.made.elem),
		Changes: append(f.changes, s.Insert(s.Offset(decl.Body.Lbrace)+1, head)),
	}}
}

// hasDirective reports whether a comment tells the compiler something about a function.
func hasDirective(decl *ast.FuncDecl) bool {
	if decl.Doc == nil {
		return false
	}
	for _, c := range decl.Doc.List {
		if strings.HasPrefix(c.Text, "//go:") || strings.HasPrefix(c.Text, "//export") {
			return true
		}
	}
	return false
}

// isShort reports whether a function is inlined as it is: one statement without calls.
func isShort(fn inspector.Cursor, decl *ast.FuncDecl) bool {
	for range fn.Preorder((*ast.CallExpr)(nil)) {
		return false
	}
	return len(decl.Body.List) == 1
}

// asksCallers reports whether the package counts the frames of its callers: a function more would be one of them.
func (s *site) asksCallers() bool {
	for _, obj := range s.Info().Uses {
		p := obj.Pkg()
		if p != nil && (p.Path() == "runtime" && strings.HasPrefix(obj.Name(), "Caller") || p.Path() == "log" && obj.Name() == "Output") {
			return true
		}
	}
	return false
}

// filled is a function whose new value another one fills.
type filled struct {
	*site
	decl    *ast.FuncDecl
	fn      inspector.Cursor
	made    made
	changes []code.Change
}

// made is the value, and the parameters of the function that fills it.
type made struct {
	elem   string // its type, as the result spells it
	of     types.Type
	name   string   // of the pointer to it
	params []string // names
	recv   string   // name of the receiver, if the function that fills is a method
}

// once reports whether a node of the function runs at most once in a call.
func (f *filled) once(c inspector.Cursor) bool {
	for range f.fn.Preorder((*ast.LabeledStmt)(nil)) {
		return false
	}
	for loop := range c.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil)) {
		if loop.Node().Pos() > f.decl.Pos() {
			return false
		}
	}
	return true
}

// signature takes the function's parameters and the type of its result; false if it cannot hand them on.
func (f *filled) signature() bool {
	if f.decl.Type.Results == nil {
		return false
	}
	for _, r := range f.decl.Type.Results.List {
		if star, ok := r.Type.(*ast.StarExpr); ok && len(r.Names) < 2 && f.made.elem == "" {
			f.made.elem, f.made.of = f.Source(star.X), f.Info().TypeOf(star.X)
		}
	}
	if f.made.elem == "" || !code.IsComposite(f.made.of) {
		return false
	}
	if size := f.SizeOf(f.made.of); size == 0 || size > largestFilled {
		return false
	}
	for _, p := range f.decl.Type.Params.List {
		if len(p.Names) == 0 {
			return false
		}
		for _, n := range p.Names {
			if n.Name == "_" || n.Name == f.made.elem {
				return false
			}
			f.made.params = append(f.made.params, n.Name)
		}
		if _, variadic := p.Type.(*ast.Ellipsis); variadic {
			f.made.params[len(f.made.params)-1] += "..."
		}
	}
	if r := f.decl.Recv; r != nil && len(r.List[0].Names) == 1 && r.List[0].Names[0].Name != "_" {
		f.made.recv = r.List[0].Names[0].Name
	}
	f.made.name = f.Fresh("made", f.decl.Pos())
	return true
}

// maker puts the value of the caller in place of the one that the site makes; false if it is of another type or stands
// where no statement can be put before it.
func (f *filled) maker() bool {
	switch n := f.Cur.Node().(type) {
	case *ast.UnaryExpr, *ast.CallExpr:
		if f.Cur.ParentEdgeKind() == edge.ReturnStmt_Results {
			return f.returned()
		}
		return f.assigned(n.(ast.Expr))
	case *ast.CompositeLit:
		if u, ok := f.Cur.Parent().Node().(*ast.UnaryExpr); ok && u.Op == token.AND {
			return false // the address is a site of its own
		}
		return f.variable()
	case *ast.ValueSpec, *ast.AssignStmt, *ast.Ident:
		return f.variable()
	}
	return false
}

// value is the value that &T{…} or new(T) of the function's type points to; ok is false for other expressions.
func (f *filled) value(e ast.Expr) (text string, ok bool) {
	switch n := ast.Unparen(e).(type) {
	case *ast.UnaryExpr:
		lit, isLit := n.X.(*ast.CompositeLit)
		if n.Op != token.AND || !isLit || !types.Identical(f.Info().TypeOf(lit), f.made.of) {
			return "", false
		}
		if len(lit.Elts) == 0 {
			return "", true
		}
		return f.Source(lit), true
	case *ast.CallExpr:
		if f.Builtin(n, "new") == nil || !f.Info().Types[n.Args[0]].IsType() || !types.Identical(f.Info().TypeOf(n.Args[0]), f.made.of) {
			return "", false
		}
		return "", true
	}
	return "", false
}

// take puts the caller's value in place of e, which a statement of a list has.
func (f *filled) take(e ast.Expr, text string, stmt ast.Node) {
	if text != "" {
		f.changes = append(f.changes, f.Before(stmt, "*"+f.made.name+" = "+text))
	}
	f.changes = append(f.changes, f.Replace(e, f.made.name))
}

// returned takes all values that return statements make: of these one runs.
func (f *filled) returned() bool {
	found := false
	for c := range f.fn.Preorder((*ast.ReturnStmt)(nil)) {
		ret := c.Node().(*ast.ReturnStmt)
		if !code.Within(c, f.fn) || len(ret.Results) == 0 {
			continue
		}
		for i, e := range ret.Results {
			text, ok := f.value(e)
			if !ok {
				continue
			}
			stmt, listed := code.Statement(c)
			if !listed || stmt != c || i > 0 && !f.Pure(ret.Results[0]) || !f.once(c) {
				return false
			}
			f.take(e, text, ret)
			found = found || ast.Unparen(e) == f.Cur.Node()
			break
		}
	}
	return found
}

// assigned takes the value of v := &T{…}.
func (f *filled) assigned(e ast.Expr) bool {
	text, ok := f.value(e)
	stmt, listed := code.Statement(f.Cur)
	if !ok || !listed || f.Cur.ParentEdgeKind() != edge.AssignStmt_Rhs || stmt != f.Cur.Parent() {
		return false
	}
	assign := stmt.Node().(*ast.AssignStmt)
	if len(assign.Lhs) != 1 || f.Local(assign.Lhs[0]) == nil || f.Commented(stmt.Node()) && text != "" && !f.inside(e, stmt.Node()) {
		return false
	}
	f.take(e, text, stmt.Node())
	return true
}

// inside reports whether all comments of a statement are in an expression of it.
func (f *filled) inside(e ast.Expr, stmt ast.Node) bool {
	for _, g := range f.Syntax.Comments {
		if g.Pos() > stmt.Pos() && g.End() < stmt.End() && (g.Pos() < e.Pos() || g.End() > e.End()) {
			return false
		}
	}
	return true
}

// variable makes a pointer of the variable that the site declares and whose address is returned.
func (f *filled) variable() bool {
	v, stmt, text, ok := f.declared()
	if !ok {
		return false
	}
	returned := false
	for _, u := range f.Uses(v, f.fn) {
		if !code.Within(u, f.fn) {
			return false
		}
		switch u.ParentEdgeKind() {
		case edge.SelectorExpr_X:
		case edge.UnaryExpr_X:
			if u.Parent().Node().(*ast.UnaryExpr).Op != token.AND {
				return false
			}
			f.changes = append(f.changes, f.Replace(u.Parent().Node(), v.Name()))
			returned = returned || u.Parent().ParentEdgeKind() == edge.ReturnStmt_Results
		default:
			if u.Node().Pos() != v.Pos() {
				f.changes = append(f.changes, f.Replace(u.Node(), "(*"+v.Name()+")"))
			}
		}
	}
	lines := v.Name() + " := " + f.made.name
	if text != "" {
		lines += "\n*" + v.Name() + " = " + text
	}
	f.changes = append(f.changes, f.Replace(stmt, lines))
	return returned
}

// declared is the variable of the function's type that the site declares, with its statement and first value.
func (f *filled) declared() (v *types.Var, stmt ast.Node, text string, ok bool) {
	c, listed := code.Statement(f.Cur)
	if !listed || f.Commented(c.Node()) {
		return nil, nil, "", false
	}
	switch n := c.Node().(type) {
	case *ast.DeclStmt:
		spec := code.OnlySpec(n)
		if spec == nil || len(spec.Values) > 0 {
			return nil, nil, "", false
		}
		v = f.Local(spec.Names[0])
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE || len(n.Lhs) != 1 {
			return nil, nil, "", false
		}
		v, text = f.Local(n.Lhs[0]), f.Source(n.Rhs[0])
	}
	if v == nil || !types.Identical(v.Type(), f.made.of) {
		return nil, nil, "", false
	}
	return v, c.Node(), text, true
}

// head is the text between the opening brace of the function that makes the value and the body of the one that fills it.
func (f *filled) head() string {
	base := f.decl.Name.Name
	for _, prefix := range []string{"New", "new"} {
		if rest, ok := strings.CutPrefix(base, prefix); ok && rest != "" {
			base = rest
			break
		}
	}
	first, n := utf8.DecodeRuneInString(base)
	base = "fill" + string(unicode.ToUpper(first)) + base[n:]
	method, call := "", ""
	if f.made.recv != "" {
		method, call = f.Source(f.decl.Recv)+" ", f.made.recv+"."
		t := f.Info().TypeOf(f.decl.Recv.List[0].Type)
		for obj := types.Object(nil); ; base += "For" {
			if obj, _, _ = types.LookupFieldOrMethod(t, true, f.Pkg.Types, base); obj == nil {
				break
			}
		}
	}
	name := f.FreshDeclared(base, fmt.Sprint(f.decl.Pos()))
	params := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(f.Source(f.decl.Type.Params), "("), ")"))
	args := append([]string{"new(" + f.made.elem + ")"}, f.made.params...)
	results := string(f.Text[f.Offset(f.decl.Type.Params.End()):f.Offset(f.decl.Body.Lbrace)])
	taken := f.made.name + " *" + f.made.elem
	if params != "" {
		taken += ", " + params
	}
	return fmt.Sprintf("\n\treturn %s%s(%s)\n}\n\n// %s is %s into memory of its caller: %[5]s is inlined, so that what its caller does not keep\n// stays on the stack.\nfunc %s%[4]s(%[7]s)%[8]s{",
		call, name, strings.Join(args, ", "), name, f.decl.Name.Name, method, taken, results)
}
