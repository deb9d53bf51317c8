package branch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// question is what a function asks before it does anything, in the words of one of its callers.
type question struct {
	text string     // the condition under which the call does something; empty: none is known
	args []ast.Expr // of the call, which the condition names
	asks string     // a call that the condition makes
}

// onlyIf is the condition under which a call of a function does anything; its text is empty where it
// does something in any case, or where the caller cannot name what is asked.
func (s *site) onlyIf(fn *types.Func, call *ast.CallExpr) question {
	decl := s.bodyOf(fn)
	if fn.Signature().Results().Len() > 0 || decl == nil || decl.Body == nil || len(decl.Body.List) == 0 {
		return question{}
	}
	guard, ok := decl.Body.List[0].(*ast.IfStmt)
	if !ok || guard.Init != nil || guard.Else != nil {
		return question{}
	}
	leaves := returnsAtOnce(guard.Body)
	if !leaves && len(decl.Body.List) > 1 {
		return question{}
	}
	cond := guard.Cond
	if leaves {
		cond = negated(cond)
	}
	t := &terms{s: s, fn: fn, cond: cond, call: call}
	if t.text, ok = t.of(cond); !ok {
		return question{}
	}
	return t.question
}

// returnsAtOnce reports whether a block does nothing but return.
func returnsAtOnce(b *ast.BlockStmt) bool {
	if len(b.List) != 1 {
		return false
	}
	r, ok := b.List[0].(*ast.ReturnStmt)
	return ok && len(r.Results) == 0
}

// negated is the opposite of a condition.
func negated(cond ast.Expr) ast.Expr {
	switch e := ast.Unparen(cond).(type) {
	case *ast.BinaryExpr:
		if e.Op == token.EQL || e.Op == token.NEQ {
			return &ast.BinaryExpr{X: e.X, Op: token.EQL + token.NEQ - e.Op, Y: e.Y}
		}
		return &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: e}}
	case *ast.UnaryExpr:
		if e.Op == token.NOT {
			return e.X
		}
	}
	return &ast.UnaryExpr{Op: token.NOT, X: ast.Unparen(cond)}
}

// terms puts a condition of a function into the words of a caller.
type terms struct {
	s *site
	question
	fn   *types.Func
	cond ast.Expr // of the function
	call *ast.CallExpr
}

// of is the text of an expression of the function at the call; not ok where the caller has no words
// for it.
func (t *terms) of(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return t.name(e.Name)
	case *ast.BasicLit:
		return e.Value, true
	case *ast.ParenExpr:
		text, ok = t.of(e.X)
		return "(" + text + ")", ok
	case *ast.SelectorExpr:
		text, ok = t.of(e.X)
		return text + "." + e.Sel.Name, ok && (t.fn.Pkg() == t.s.Pkg.Types || e.Sel.IsExported())
	case *ast.UnaryExpr:
		text, ok = t.of(e.X)
		return e.Op.String() + text, ok && (e.Op == token.NOT || e.Op == token.SUB)
	case *ast.BinaryExpr:
		left, known := t.of(e.X)
		right, ok := t.of(e.Y)
		return left + " " + e.Op.String() + " " + right, known && ok && e.Op != token.QUO && e.Op != token.REM
	case *ast.CallExpr:
		return t.asked(e)
	}
	return "", false
}

// asked is the text of a call in the condition.
func (t *terms) asked(e *ast.CallExpr) (string, bool) {
	fun, ok := t.of(e.Fun)
	if !ok || e.Ellipsis.IsValid() {
		return "", false
	}
	var args []string
	for _, a := range e.Args {
		text, ok := t.of(a)
		if !ok {
			return "", false
		}
		args = append(args, text)
	}
	text := fmt.Sprintf("%s(%s)", fun, strings.Join(args, ", "))
	if fun != "len" && fun != "cap" {
		t.asks = text
	}
	return text, true
}

// name is the text of a name of the function: an argument for a parameter, what the method was called
// of for a receiver, and what both packages know.
func (t *terms) name(name string) (string, bool) {
	if r := t.fn.Signature().Recv(); r != nil && r.Name() == name {
		sel, ok := ast.Unparen(t.call.Fun).(*ast.SelectorExpr)
		if !ok || !t.s.Pure(sel.X) || !sameNamed(t.s.Info().TypeOf(sel.X), r.Type()) {
			return "", false
		}
		return t.s.Source(sel.X), true
	}
	params := t.fn.Signature().Params()
	for i := range params.Len() {
		if p := params.At(i); p.Name() == name {
			return t.argument(i, p)
		}
	}
	if obj := types.Universe.Lookup(name); obj != nil && t.fn.Pkg().Scope().Lookup(name) == nil {
		return name, t.s.Lookup(name, t.call.Pos()) == obj
	}
	obj := t.fn.Pkg().Scope().Lookup(name)
	if obj == nil {
		return "", false
	}
	if obj.Pkg() == t.s.Pkg.Types {
		return name, t.s.Lookup(name, t.call.Pos()) == obj
	}
	sel, ok := ast.Unparen(t.call.Fun).(*ast.SelectorExpr)
	if !ok || !obj.Exported() {
		return "", false
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	_, ok = t.s.Info().Uses[pkg].(*types.PkgName)
	return pkg.Name + "." + name, ok
}

// argument is the text of the argument for a parameter, where it has the parameter's type.
func (t *terms) argument(i int, p *types.Var) (string, bool) {
	if i >= len(t.call.Args) || t.fn.Signature().Variadic() && i == t.fn.Signature().Params().Len()-1 {
		return "", false
	}
	arg := t.call.Args[i]
	if _, isFunc := ast.Unparen(arg).(*ast.FuncLit); isFunc || !types.Identical(t.s.Info().TypeOf(arg), p.Type()) {
		return "", false
	}
	t.args = append(t.args, arg)
	text := t.s.Source(arg)
	whole, _ := t.cond.(*ast.Ident)
	if _, ok := arg.(*ast.BinaryExpr); ok && (whole == nil || whole.Name != p.Name()) {
		text = "(" + text + ")"
	}
	return text, true
}

// sameNamed reports whether two types are one named type, or pointers to it.
func sameNamed(a, b types.Type) bool {
	return a != nil && types.Identical(deref(a), deref(b))
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
