package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// TakeText lets a function of the file take a text, where all that call it convert one to bytes for it, and all that it does
// with the bytes can be done with a text.
func TakeText(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || s.ofText(conv) == nil {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	callee, _ := typeutil.Callee(s.Info(), call).(*types.Func)
	if callee == nil || callee.Exported() || callee.Pkg() != s.Pkg.Types || callee.Signature().Variadic() {
		return nil
	}
	decl, param := s.parameter(callee, slices.Index(call.Args, ast.Expr(conv)))
	if param == nil {
		return nil
	}
	t := &taking{site: s, decl: decl, seen: map[*types.Var]bool{}, changes: []code.Change{s.Replace(param.Type, "string")}}
	if !t.calls(callee, slices.Index(call.Args, ast.Expr(conv))) || !t.uses(s.Local(param.Names[0])) {
		return nil
	}
	return []code.Edit{{Text: fmt.Sprintf("let %s take the text itself", callee.Name()), Imports: t.imports, Changes: t.changes}}
}

// ofText is the text that an expression converts to bytes; nil for others.
func (s *site) ofText(e ast.Expr) ast.Expr {
	conv, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(conv.Args) != 1 || !s.Info().Types[conv.Fun].IsType() || !code.IsBytes(s.Info().TypeOf(conv)) ||
		!types.Identical(types.Default(s.Info().TypeOf(conv.Args[0])), types.Typ[types.String]) {
		return nil
	}
	return conv.Args[0]
}

// parameter is the i-th parameter of a function that the file declares, with its declaration, if it has a name and a line in
// the list of its own, and is a slice of bytes; nil for others.
func (s *site) parameter(fn *types.Func, i int) (inspector.Cursor, *ast.Field) {
	for c := range s.Root.Preorder((*ast.FuncDecl)(nil)) {
		decl := c.Node().(*ast.FuncDecl)
		if s.Info().Defs[decl.Name] != fn || decl.Body == nil || decl.Type.TypeParams != nil {
			continue
		}
		n := 0
		for _, field := range decl.Type.Params.List {
			if n == i && len(field.Names) == 1 && types.Identical(s.Info().TypeOf(field.Type), types.NewSlice(types.Typ[types.Byte])) {
				return c, field
			}
			n += max(1, len(field.Names))
		}
	}
	return inspector.Cursor{}, nil
}

// taking is a function on the way to take a text.
type taking struct {
	*site
	decl    inspector.Cursor
	seen    map[*types.Var]bool // that hold the text, or a part of it
	imports []string
	changes []code.Change
}

// calls drops the conversions from all calls of the function; false if something else uses it, or hands it other bytes.
func (t *taking) calls(fn *types.Func, i int) bool {
	for _, f := range t.Package {
		for c := range f.Root.Preorder((*ast.Ident)(nil)) {
			if f.Info().Uses[c.Node().(*ast.Ident)] != types.Object(fn) {
				continue
			}
			if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
				c = c.Parent()
			}
			if f != t.File || c.ParentEdgeKind() != edge.CallExpr_Fun {
				return false
			}
			arg := c.Parent().Node().(*ast.CallExpr).Args[i]
			of := t.ofText(arg)
			if of == nil {
				return false
			}
			t.unwrap(arg, of)
		}
	}
	return true
}

// unwrap leaves an expression where another one is around it.
func (t *taking) unwrap(around, e ast.Expr) {
	t.changes = append(t.changes, code.Change{From: t.Offset(around.Pos()), To: t.Offset(e.Pos())}, code.Change{From: t.Offset(e.End()), To: t.Offset(around.End())})
}

// uses takes all uses of a variable that holds the text.
func (t *taking) uses(v *types.Var) bool {
	if t.seen[v] {
		return true
	}
	t.seen[v] = true
	for _, u := range t.Uses(v, t.decl) {
		if u.Node().Pos() != v.Pos() && !t.use(u) {
			return false
		}
	}
	return true
}

// use takes one use of bytes that are a text now.
func (t *taking) use(u inspector.Cursor) bool {
	e := u.Node().(ast.Expr)
	switch u.ParentEdgeKind() {
	case edge.ParenExpr_X:
		return t.use(u.Parent())
	case edge.SliceExpr_X:
		return !u.Parent().Node().(*ast.SliceExpr).Slice3 && t.use(u.Parent())
	case edge.IndexExpr_X:
		switch u.Parent().ParentEdgeKind() {
		case edge.AssignStmt_Lhs, edge.IncDecStmt_X:
			return false
		case edge.UnaryExpr_X:
			return u.Parent().Parent().Node().(*ast.UnaryExpr).Op != token.AND
		}
		return true
	case edge.RangeStmt_X:
		t.changes = append(t.changes, t.Insert(t.Offset(e.Pos()), "[]byte("), t.Insert(t.Offset(e.End()), ")")) // which copies nothing here
		return true
	case edge.AssignStmt_Lhs:
		assign := u.Parent().Node().(*ast.AssignStmt)
		return len(assign.Lhs) == 1 && len(assign.Rhs) == 1 && t.isPart(assign.Rhs[0])
	case edge.AssignStmt_Rhs:
		assign := u.Parent().Node().(*ast.AssignStmt)
		to := t.Local(assign.Lhs[0])
		return len(assign.Lhs) == 1 && to != nil && (t.seen[to] || assign.Tok == token.DEFINE && t.uses(to))
	case edge.CallExpr_Args:
		return t.asked(u, u.Parent().Node().(*ast.CallExpr))
	}
	return false
}

// isPart reports whether an expression is a part of a variable that holds the text.
func (t *taking) isPart(e ast.Expr) bool {
	for {
		s, ok := ast.Unparen(e).(*ast.SliceExpr)
		if !ok {
			v := t.Local(ast.Unparen(e))
			return v != nil && t.seen[v]
		}
		e = s.X
	}
}

// asked takes a call that is handed the bytes.
func (t *taking) asked(u inspector.Cursor, call *ast.CallExpr) bool {
	e := u.Node().(ast.Expr)
	switch {
	case t.Builtin(call, "len") != nil:
		return true
	case t.Builtin(call, "copy") != nil, t.Builtin(call, "append") != nil:
		return call.Args[0] != e && (call.Ellipsis.IsValid() || t.Builtin(call, "copy") != nil)
	case t.Info().Types[call.Fun].IsType():
		if !types.Identical(t.Info().TypeOf(call), types.Typ[types.String]) {
			return false
		}
		t.unwrap(call, e)
		return true
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || call.Args[0] != e {
		return false
	}
	name := t.Callee(call)
	for text, bytes := range bytesAsWell {
		if cut := strings.LastIndexByte(text, '.') + 1; text[:cut]+bytes == name && text[0] != '(' {
			t.changes = append(t.changes, t.Replace(sel.Sel, text[cut:]))
			return true
		}
	}
	short, isBytes := strings.CutPrefix(name, "bytes.")
	same, known := askBytes["strings."+short]
	pkg, imports, usable := t.Use("strings", call.Pos())
	if !isBytes || !known || !usable || len(call.Args) != 2 {
		return false
	}
	if !same {
		of := t.ofText(call.Args[1])
		if of == nil {
			return false
		}
		t.unwrap(call.Args[1], of)
	}
	t.imports = imports
	t.changes = append(t.changes, t.Replace(sel.X, pkg))
	return true
}
