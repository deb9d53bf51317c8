package rewrite

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"go/version"
	"strings"
	"sync"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// since reports whether the file may use a version of Go.
func (f *file) since(goVersion string) bool {
	v := f.info().FileVersions[f.syntax]
	return v == "" || version.Compare(v, goVersion) >= 0
}

// callee is the full name of the function that a call names, or "".
func (f *file) callee(call *ast.CallExpr) string {
	if fn, ok := typeutil.Callee(f.info(), call).(*types.Func); ok {
		return fn.FullName()
	}
	return ""
}

// builtin returns the call that e is, if it is one of a builtin function.
func (f *file) builtin(e ast.Expr, name string) *ast.CallExpr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil
	}
	if b, ok := typeutil.Callee(f.info(), call).(*types.Builtin); !ok || b.Name() != name {
		return nil
	}
	return call
}

// local is the variable of a function that e names; nil for all others.
func (f *file) local(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := f.info().ObjectOf(id).(*types.Var)
	if !ok || v.IsField() || v.Parent() == f.pkg.Types.Scope() {
		return nil
	}
	return v
}

// pure reports whether e can be evaluated earlier without anybody noticing, as long as what it
// names is not changed between: names, fields, constants, len.
func (f *file) pure(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident, *ast.BasicLit:
		return true
	case *ast.SelectorExpr:
		return f.pure(e.X)
	case *ast.CallExpr:
		return f.builtin(e, "len") != nil && f.pure(e.Args[0])
	}
	return false
}

// constString is the value of a constant string.
func (f *file) constString(e ast.Expr) (string, bool) {
	v := f.info().Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

func (f *file) isZero(e ast.Expr) bool {
	v := f.info().Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// typeText is a type as the file would write it; "" if the file does not import what it needs.
func (f *file) typeText(t types.Type) string {
	ok := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg.Types {
			return ""
		}
		for _, i := range f.syntax.Imports {
			if obj := f.info().PkgNameOf(i); obj != nil && obj.Imported() == p && obj.Name() != "_" && obj.Name() != "." {
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

// use is the name by which a package of the standard library can be used at a position, and
// what to import for it; ok is false if the name means something else there.
func (f *file) use(path string, at token.Pos) (name string, imports []string, ok bool) {
	for _, i := range f.syntax.Imports {
		if obj := f.info().PkgNameOf(i); obj != nil && obj.Imported().Path() == path && obj.Name() != "_" && obj.Name() != "." {
			return obj.Name(), nil, f.lookup(obj.Name(), at) == obj
		}
	}
	name = path[strings.LastIndexByte(path, '/')+1:]
	return name, []string{path}, f.lookup(name, at) == nil
}

// lookup is what a name means at a position; nil for nothing.
func (f *file) lookup(name string, at token.Pos) types.Object {
	scope := f.pkg.Types.Scope().Innermost(at)
	if scope == nil {
		scope = f.pkg.Types.Scope()
	}
	_, obj := scope.LookupParent(name, at)
	return obj
}

// fresh is a name that nothing in the file or the package has, and no edit at another position.
func (f *file) fresh(base string, at token.Pos) string {
	taken := map[string]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			taken[id.Name] = true
		}
		return true
	})
	f.names.mu.Lock()
	defer f.names.mu.Unlock()
	name := base
	for i := 2; ; i++ {
		owner, given := f.names.given[name]
		if !taken[name] && (!given || owner == at) && f.pkg.Types.Scope().Lookup(name) == nil && types.Universe.Lookup(name) == nil {
			break
		}
		name = fmt.Sprintf("%s%d", base, i)
	}
	f.names.given[name] = at
	return name
}

// names are those that edits were given, so that several can be made together.
type names struct {
	mu    sync.Mutex
	given map[string]token.Pos
}

// function is the function or function literal around a node, and its body.
func function(c inspector.Cursor) (fn inspector.Cursor, body *ast.BlockStmt) {
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

// signature has the parameters and results of a function or function literal.
func signature(fn inspector.Cursor) (params, results *ast.FieldList) {
	switch n := fn.Node().(type) {
	case *ast.FuncDecl:
		return n.Type.Params, n.Type.Results
	case *ast.FuncLit:
		return n.Type.Params, n.Type.Results
	}
	return nil, nil
}

// within reports whether a node is in a function itself, not in a literal inside it.
func within(c, fn inspector.Cursor) bool {
	in, _ := function(c)
	return in == fn
}

// declaration is the function declaration around a node; nil outside of any.
func declaration(c inspector.Cursor) *ast.FuncDecl {
	for fn := range c.Enclosing((*ast.FuncDecl)(nil)) {
		return fn.Node().(*ast.FuncDecl)
	}
	return nil
}

// statement is the innermost statement around a node that stands in a list.
func statement(c inspector.Cursor) (inspector.Cursor, bool) {
	for s := range c.Enclosing() {
		switch s.ParentEdgeKind() {
		case edge.BlockStmt_List, edge.CaseClause_Body, edge.CommClause_Body:
			_, ok := s.Node().(ast.Stmt)
			return s, ok
		}
	}
	return inspector.Cursor{}, false
}

// uses are the names of a variable in the function around a node, in order, with that of its
// declaration.
func (f *file) uses(v *types.Var, in inspector.Cursor) []inspector.Cursor {
	var out []inspector.Cursor
	for c := range in.Preorder((*ast.Ident)(nil)) {
		if f.info().ObjectOf(c.Node().(*ast.Ident)) == v {
			out = append(out, c)
		}
	}
	return out
}

// changed reports whether what e names may be changed between two positions of a function: a
// variable of it is assigned to or has its address taken there; fields may be changed by any
// call.
func (f *file) changed(e ast.Expr, in ast.Node, from, to token.Pos) bool {
	names := map[types.Object]bool{}
	deep := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if v, ok := f.info().ObjectOf(n).(*types.Var); ok {
				names[v] = true
				deep = deep || v.Parent() == f.pkg.Types.Scope()
			}
		case *ast.SelectorExpr:
			deep = true
		}
		return true
	})
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if n == nil || n.End() <= from || n.Pos() >= to {
			return n == nil || n == in
		}
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				found = found || n.Pos() >= from && names[f.rootOf(lhs)]
			}
		case *ast.IncDecStmt:
			found = found || names[f.rootOf(n.X)]
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND && n.Pos() >= from && names[f.rootOf(n.X)]
		case *ast.CallExpr:
			found = found || deep && n.Pos() >= from && f.builtin(n, "len") == nil && f.builtin(n, "make") == nil &&
				!f.info().Types[n.Fun].IsType()
		}
		return !found
	})
	return found
}

// rootOf is the variable at the left end of an expression such as x.y[i].
func (f *file) rootOf(e ast.Expr) types.Object {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return f.info().ObjectOf(x)
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

// plain reports whether fmt prints a value of a type by its kind alone.
func plain(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if hasMethod(t, name) {
			return false
		}
	}
	_, param := types.Unalias(t).(*types.TypeParam)
	return !param
}

func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// basic is the basic type behind a type; nil for others.
func basic(t types.Type) *types.Basic {
	if t == nil {
		return nil
	}
	b, _ := t.Underlying().(*types.Basic)
	return b
}

func isString(t types.Type) bool { b := basic(t); return b != nil && b.Info()&types.IsString != 0 }

func isBytes(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b := basic(s.Elem())
	return b != nil && b.Kind() == types.Byte
}

// named reports whether t, or what it points to, is a type of the given full name.
func named(t types.Type, full string) bool {
	if t == nil {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path()+"."+n.Obj().Name() == full
}
