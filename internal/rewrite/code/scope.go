package code

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"go/version"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Since reports whether the file may use a version of Go.
func (f *File) Since(goVersion string) bool {
	v := f.Info().FileVersions[f.Syntax]
	return v == "" || version.Compare(v, goVersion) >= 0
}

// Callee is the full name of the function that a call names, or "".
func (f *File) Callee(call *ast.CallExpr) string {
	if fn, ok := typeutil.Callee(f.Info(), call).(*types.Func); ok {
		return fn.FullName()
	}
	return ""
}

// Builtin returns the call that e is, if it is one of a builtin function.
func (f *File) Builtin(e ast.Expr, name string) *ast.CallExpr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if b, ok := typeutil.Callee(f.Info(), call).(*types.Builtin); !ok || b.Name() != name {
		return nil
	}
	return call
}

// Local is the variable of a function that e names; nil for all others.
func (f *File) Local(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := f.Info().ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == f.Pkg.Types.Scope() {
		return nil
	}
	return v
}

// Pure reports whether e can be evaluated earlier without anybody noticing, as long as what it
// names is not changed between: names, fields, constants, len, numbers in another type.
func (f *File) Pure(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return f.Pure(e.X)
	case *ast.CallExpr:
		if f.Info().Types[e.Fun].IsType() && len(e.Args) == 1 {
			to, from := Basic(f.Info().TypeOf(e)), Basic(f.Info().TypeOf(e.Args[0]))
			return to != nil && from != nil && to.Info()&types.IsNumeric != 0 && from.Info()&types.IsNumeric != 0 && f.Pure(e.Args[0])
		}
		return f.Builtin(e, "len") != nil && f.Pure(e.Args[0])
	}
	return false
}

// PureSize reports whether e is a sum, difference or product of pure numbers, or one of these.
func (f *File) PureSize(e ast.Expr) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok {
		return f.Pure(e)
	}
	switch b.Op {
	case token.ADD, token.SUB, token.MUL:
		return f.PureSize(b.X) && f.PureSize(b.Y)
	}
	return false
}

// ConstString is the value of a constant string.
func (f *File) ConstString(e ast.Expr) (string, bool) {
	v := f.Info().Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// Character is the source of x as a rune where e is string(x); "" for other expressions, and for types of x whose values a
// rune does not hold.
func (f *File) Character(e ast.Expr) string {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !f.Info().Types[call.Fun].IsType() || !IsString(f.Info().TypeOf(call)) {
		return ""
	}
	b := Basic(f.Info().TypeOf(call.Args[0]))
	if b == nil || !slices.Contains([]types.BasicKind{types.Int8, types.Uint8, types.Int16, types.Uint16, types.Int32}, b.Kind()) {
		return ""
	}
	x := f.Source(call.Args[0])
	if types.Identical(f.Info().TypeOf(call.Args[0]), types.Typ[types.Int32]) {
		return x
	}
	return "rune(" + x + ")"
}

// IsEmptyString reports whether e is the constant "".
func (f *File) IsEmptyString(e ast.Expr) bool {
	text, ok := f.ConstString(e)
	return ok && text == ""
}

// IsZero reports whether e is the constant 0.
func (f *File) IsZero(e ast.Expr) bool {
	v := f.Info().Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// TypeText is a type as the file would write it; "" if the file does not import what it needs.
func (f *File) TypeText(t types.Type) string {
	ok := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == f.Pkg.Types {
			return ""
		}
		for _, i := range f.Syntax.Imports {
			if obj := f.Info().PkgNameOf(i); obj != nil && obj.Imported() == p && obj.Name() != "_" && obj.Name() != "." {
				return obj.Name()
			}
		}
		ok = false
		return p.Name()
	})
	if !ok || strings.Contains(text, "/") {
		return ""
	}
	return text
}

// Use is the name by which a package of the standard library can be used at a position, and
// what to import for it; ok is false if the name means something else there.
func (f *File) Use(path string, at token.Pos) (name string, imports []string, ok bool) {
	for _, i := range f.Syntax.Imports {
		if obj := f.Info().PkgNameOf(i); obj != nil && obj.Imported().Path() == path && obj.Name() != "_" && obj.Name() != "." {
			return obj.Name(), nil, f.Lookup(obj.Name(), at) == obj
		}
	}
	name = path[strings.LastIndexByte(path, '/')+1:]
	return name, []string{path}, f.Lookup(name, at) == nil
}

// Lookup is what a name means at a position; nil for nothing.
func (f *File) Lookup(name string, at token.Pos) types.Object {
	scope := f.Pkg.Types.Scope().Innermost(at)
	if scope == nil {
		scope = f.Pkg.Types.Scope()
	}
	_, obj := scope.LookupParent(name, at)
	return obj
}

// builtins are what new text may name without asking what the name means.
var builtins = []string{"any", "append", "byte", "cap", "clear", "copy", "int", "int64", "len", "make", "max", "min", "new", "nil", "rune", "string", "uint64"}

// Hides reports whether the text of an edit names something of the language whose name means something
// else at a position.
func (f *File) Hides(at token.Pos, e Edit) bool {
	for _, name := range builtins {
		if obj := f.Lookup(name, at); obj == nil || obj.Parent() == types.Universe {
			continue
		}
		word := regexp.MustCompile(`\b` + name + `\b`)
		for _, part := range e.Parts() {
			if slices.ContainsFunc(part.Changes, func(c Change) bool { return word.MatchString(c.Text) }) {
				return true
			}
		}
	}
	return false
}

// Fresh is a name for a variable of the function around a position: neither the function nor the package has
// it, and no edit at another position of the function.
func (f *File) Fresh(base string, at token.Pos) string {
	var within ast.Node = f.Syntax
	for _, d := range f.Syntax.Decls {
		if d.Pos() <= at && at < d.End() {
			within = d
		}
	}
	return f.fresh(base, within, fmt.Sprint(at))
}

// FreshDeclared is a name for something that an edit declares in the package: nothing in the file or the
// package has it, and no edit of another owner. Edits of one owner share what they declare.
func (f *File) FreshDeclared(base, owner string) string { return f.fresh(base, f.Syntax, owner) }

// fresh is a name that is not taken within a declaration, or within the whole file.
func (f *File) fresh(base string, within ast.Node, owner string) string {
	taken := map[string]bool{}
	note := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
		}
		return true
	}
	ast.Inspect(within, note)
	for _, i := range f.Syntax.Imports {
		ast.Inspect(i, note)
		if path, err := strconv.Unquote(i.Path.Value); err == nil && f.Pkg.Imports[path] != nil {
			taken[f.Pkg.Imports[path].Name] = true
		}
	}
	f.names.mu.Lock()
	defer f.names.mu.Unlock()
	_, declared := within.(*ast.File)
	free := func(name string) bool {
		for _, g := range f.names.given[f.Pkg.PkgPath+"."+name] {
			_, other := g.within.(*ast.File)
			if g.owner != owner && (g.within == within || declared || other) {
				return false
			}
		}
		return !taken[name] && f.Pkg.Types.Scope().Lookup(name) == nil && types.Universe.Lookup(name) == nil
	}
	name := base
	for i := 2; !free(name); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	key := f.Pkg.PkgPath + "." + name
	if g := (given{within, owner}); !slices.Contains(f.names.given[key], g) {
		f.names.given[key] = append(f.names.given[key], g)
	}
	return name
}

// Names are those that edits were given, so that several can be made together: by the path of the
// package and the name.
type Names struct {
	mu    sync.Mutex
	given map[string][]given
}

// given says where a name was given, and to which edits.
type given struct {
	within ast.Node
	owner  string
}

// NewNames returns an empty list.
func NewNames() *Names { return &Names{given: map[string][]given{}} }

// Function is the function or function literal around a node, and its body.
func Function(c inspector.Cursor) (fn inspector.Cursor, body *ast.BlockStmt) {
	for fn := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		switch n := fn.Node().(type) {
		case *ast.FuncDecl:
			return fn, n.Body
		case *ast.FuncLit:
			return fn, n.Body
		}
	}
	return inspector.Cursor{}, nil
}

// Signature has the parameters and results of a function or function literal.
func Signature(fn inspector.Cursor) (params, results *ast.FieldList) {
	switch n := fn.Node().(type) {
	case *ast.FuncDecl:
		return n.Type.Params, n.Type.Results
	case *ast.FuncLit:
		return n.Type.Params, n.Type.Results
	}
	return nil, nil
}

// Within reports whether a node is in a function itself, not in a literal inside it.
func Within(c, fn inspector.Cursor) bool {
	in, _ := Function(c)
	return in == fn
}

// Declaration is the function declaration around a node; nil outside of any.
func Declaration(c inspector.Cursor) *ast.FuncDecl {
	for fn := range c.Enclosing((*ast.FuncDecl)(nil)) {
		return fn.Node().(*ast.FuncDecl)
	}
	return nil
}

// Statement is the innermost statement around a node that stands in a list.
func Statement(c inspector.Cursor) (inspector.Cursor, bool) {
	for s := range c.Enclosing() {
		switch s.ParentEdgeKind() {
		case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
			_, ok := s.Node().(ast.Stmt)
			return s, ok
		}
	}
	return inspector.Cursor{}, false
}

// Uses are the names of a variable in the function around a node, in order, with that of its
// declaration.
func (f *File) Uses(v *types.Var, in inspector.Cursor) []inspector.Cursor {
	var out []inspector.Cursor
	for c := range in.Preorder((*ast.Ident)(nil)) {
		if f.Info().ObjectOf(c.Node().(*ast.Ident)) == v {
			out = append(out, c)
		}
	}
	return out
}

// Changed reports whether what e names may be changed between two positions of a function: a
// variable of it is assigned to or has its address taken there, a field of it is stored to, by whatever name;
// fields may be changed by any call, and variables that function literals or pointers share.
func (f *File) Changed(e ast.Expr, in ast.Node, from, to token.Pos) bool {
	names := map[types.Object]bool{} // variables and fields
	deep := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := f.Info().ObjectOf(n).(*types.Var); ok {
				names[v] = true
				deep = deep || v.Parent() == f.Pkg.Types.Scope()
			}
		case *ast.SelectorExpr, *ast.StarExpr:
			deep = true
		}
		return true
	})
	deep = deep || f.shared(names, in)
	stored := func(lhs ast.Expr) bool {
		sel, ok := ast.Unparen(lhs).(*ast.SelectorExpr)
		return names[f.RootOf(lhs)] || ok && names[f.Info().ObjectOf(sel.Sel)]
	}
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if n == nil || n.End() <= from || n.Pos() >= to {
			return n == nil || n == in
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			found = found || n.Pos() >= from && slices.ContainsFunc(n.Lhs, stored)
		case *ast.RangeStmt:
			found = found || n.Tok == token.ASSIGN && n.Pos() >= from && (stored(n.Key) || n.Value != nil && stored(n.Value))
		case *ast.IncDecStmt:
			found = found || stored(n.X)
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && n.Pos() >= from && names[f.RootOf(n.X)]
		case *ast.CallExpr:
			found = found || deep && n.Pos() >= from && f.Builtin(n, "len") == nil && f.Builtin(n, "make") == nil &&
				!f.Info().Types[n.Fun].IsType() && !f.asksOnly(n)
		}
		return !found
	})
	return found
}

// shared reports whether a call may change one of some variables: its address is taken, or a function literal sets it.
func (f *File) shared(names map[types.Object]bool, in ast.Node) bool {
	found := false
	isLit := func(n ast.Node) bool { _, ok := n.(*ast.FuncLit); return ok && n != in }
	ast.PreorderStack(in, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && names[f.RootOf(n.X)]
		case *ast.AssignStmt:
			found = found || slices.ContainsFunc(stack, isLit) && slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return names[f.RootOf(e)] })
		case *ast.IncDecStmt:
			found = found || slices.ContainsFunc(stack, isLit) && names[f.RootOf(n.X)]
		}
		return !found
	})
	return found
}

// asksOnly reports whether a call only looks at its arguments: of a function for text and numbers of the
// standard library that is given no function.
func (f *File) asksOnly(call *ast.CallExpr) bool {
	pkg, _, _ := strings.Cut(f.Callee(call), ".")
	switch pkg {
	case "strings", "strconv", "bytes", "unicode", "unicode/utf8", "math", "math/bits":
	default:
		return false
	}
	for _, a := range call.Args {
		if _, isFunc := f.Info().TypeOf(a).Underlying().(*types.Signature); isFunc {
			return false
		}
	}
	return true
}

// NamedBy is the variable or field that an expression names; nil for others.
func (f *File) NamedBy(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return f.Info().ObjectOf(e)
	case *ast.SelectorExpr:
		return f.Info().ObjectOf(e.Sel)
	}
	return nil
}

// RootOf is the variable at the left end of an expression such as x.y[i].
func (f *File) RootOf(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return f.Info().ObjectOf(x)
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// Plain reports whether fmt prints a value of a type by its kind alone.
func Plain(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if HasMethod(t, name) {
			return false
		}
	}
	_, param := types.Unalias(t).(*types.TypeParam)
	return !param
}

// HasMethod reports whether a variable of type t has a method.
func HasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// Basic is the basic type behind a type; nil for others.
func Basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

// IsString reports whether t is a kind of string.
func IsString(t types.Type) bool { b := Basic(t); return b != nil && b.Info()&types.IsString != 0 }

// IsBytes reports whether t is a slice of bytes.
func IsBytes(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b := Basic(s.Elem())
	return b != nil && b.Kind() == types.Byte
}

// IsComposite reports whether a type is a struct or an array.
func IsComposite(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
		return true
	}
	return false
}

// Named reports whether t, or what it points to, is a type of the given full name.
func Named(t types.Type, full string) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path()+"."+n.Obj().Name() == full
}

// LoopAround is the innermost loop of the site's function around it.
func (s *Site) LoopAround() (loop inspector.Cursor, ok bool) {
	for c := range s.Cur.Enclosing((*ast.ForStmt)(nil), (*ast.RangeStmt)(nil), (*ast.FuncLit)(nil)) {
		switch n := c.Node().(type) {
		case *ast.ForStmt:
			return c, n.Body.Pos() < s.Cur.Node().Pos()
		case *ast.RangeStmt:
			return c, n.Body.Pos() < s.Cur.Node().Pos()
		}
		break
	}
	return inspector.Cursor{}, false
}
