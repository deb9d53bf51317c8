// Package code answers what the rules ask of a package's source: types, calls,
// loops and their trips, what runs often, what is excluded.
package code

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"go/version"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// Source is a package as one rule sees it.
type Source struct {
	*analysis.Pass
	*Facts
	code string
}

// New is the package of a pass, as the rule with a code sees it.
func New(pass *analysis.Pass, code string) *Source {
	return &Source{pass, pass.ResultOf[Index].(*Facts), code}
}

// Flag reports a finding at a node.
func (s *Source) Flag(at ast.Node, format string, args ...any) {
	s.Diagnose(analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)})
}

// Each calls visit for the nodes of the given types in the files that the
// rules look at.
func (s *Source) Each(visit func(inspector.Cursor), types ...ast.Node) {
	for _, file := range s.files {
		for c := range file.Preorder(types...) {
			visit(c)
		}
	}
}

// EachCall calls visit for the calls of the named functions (types.Func.FullName)
// that may run often.
func (s *Source) EachCall(visit func(c inspector.Cursor, call *ast.CallExpr), names ...string) {
	for _, name := range names {
		for _, c := range s.Calls[name] {
			if !s.Cold(c) {
				visit(c, c.Node().(*ast.CallExpr))
			}
		}
	}
}

// Since reports whether the file of c may use the given version of Go.
func (s *Source) Since(c inspector.Cursor, goVersion string) bool {
	for f := range c.Enclosing((*ast.File)(nil)) {
		v := s.TypesInfo.FileVersions[f.Node().(*ast.File)]
		return v == "" || version.Compare(v, goVersion) >= 0
	}
	return false
}

// CalleeName is the full name of the function or method that call statically
// names, or "".
func (s *Source) CalleeName(call *ast.CallExpr) string {
	if fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func); ok {
		return fn.FullName()
	}
	return ""
}

// IsCallOf reports whether e calls one of the named functions.
func (s *Source) IsCallOf(e ast.Expr, names ...string) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	full := s.CalleeName(call)
	for _, name := range names {
		if full == name {
			return call, true
		}
	}
	return nil, false
}

// Builtin returns the call that e is, if it is one of the named builtin
// function, not of something that hides it.
func (s *Source) Builtin(e ast.Expr, name string) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	b, ok := typeutil.Callee(s.TypesInfo, call).(*types.Builtin)
	return call, ok && b.Name() == name
}

// Conversion returns the operand of a conversion of from to to.
func (s *Source) Conversion(e ast.Expr, to, from func(types.Type) bool) (ast.Expr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !s.TypesInfo.Types[call.Fun].IsType() {
		return nil, false
	}
	operand := ast.Unparen(call.Args[0])
	t, f := s.TypesInfo.TypeOf(call.Fun), s.TypesInfo.TypeOf(operand)
	return operand, t != nil && f != nil && to(t) && from(f)
}

// BytesOf returns s of []byte(s), s being a string.
func (s *Source) BytesOf(e ast.Expr) (ast.Expr, bool) { return s.Conversion(e, IsBytes, IsString) }

// StringOf returns b of string(b), b being a []byte.
func (s *Source) StringOf(e ast.Expr) (ast.Expr, bool) { return s.Conversion(e, IsString, IsBytes) }

// Object returns the variable that e names, or nil.
func (s *Source) Object(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := s.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// Field returns the struct field that e selects, or nil.
func (s *Source) Field(e ast.Expr) *types.Var {
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		if v, ok := s.TypesInfo.ObjectOf(sel.Sel).(*types.Var); ok && v.IsField() {
			return v
		}
	}
	return nil
}

func (s *Source) constant(e ast.Expr) constant.Value { return s.TypesInfo.Types[e].Value }

// IsConstant reports whether the compiler knows the value of e.
func (s *Source) IsConstant(e ast.Expr) bool { return s.constant(e) != nil }

// ConstantString returns the value of a constant string.
func (s *Source) ConstantString(e ast.Expr) (string, bool) {
	v := s.constant(e)
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// IntValue returns the value of a constant integer.
func (s *Source) IntValue(e ast.Expr) (int64, bool) {
	v := s.constant(e)
	if v == nil || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

// IsInt reports whether e is the constant want.
func (s *Source) IsInt(e ast.Expr, want int64) bool {
	n, ok := s.IntValue(e)
	return ok && n == want
}

// IsNil reports whether e is the predeclared nil.
func (s *Source) IsNil(e ast.Expr) bool { return s.TypesInfo.Types[e].IsNil() }

// mentions reports whether v is named below c.
func (s *Source) mentions(c inspector.Cursor, v *types.Var) bool {
	for _, use := range s.Uses[v] {
		if c.Contains(use) {
			return true
		}
	}
	return false
}

// MentionsIn is mentions for a node without a cursor of its own.
func (s *Source) MentionsIn(n ast.Node, v *types.Var) bool {
	for _, use := range s.Uses[v] {
		if n.Pos() <= use.Node().Pos() && use.Node().End() <= n.End() {
			return true
		}
	}
	return false
}

// Pure reports whether e can be evaluated earlier, or twice, without anybody
// noticing: names, fields, elements, constants, arithmetic, len and cap.
func (s *Source) Pure(e ast.Expr) bool {
	if s.IsConstant(e) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return s.Pure(e.X)
	case *ast.StarExpr:
		return s.Pure(e.X)
	case *ast.IndexExpr:
		return s.Pure(e.X) && s.Pure(e.Index)
	case *ast.BinaryExpr:
		return s.Pure(e.X) && s.Pure(e.Y)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && s.Pure(e.X)
	case *ast.CallExpr:
		if len(e.Args) != 1 || !s.Pure(e.Args[0]) {
			return false
		}
		_, isLen := s.Builtin(e, "len")
		_, isCap := s.Builtin(e, "cap")
		return isLen || isCap || s.TypesInfo.Types[e.Fun].IsType()
	}
	return false
}

// root is the leftmost name of an expression such as x.y[i], or an empty one.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
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
		case *ast.UnaryExpr:
			e = x.X
		default:
			return new(ast.Ident)
		}
	}
}

// Brief is the source text of e, cut where it would fill a message.
func Brief(e ast.Expr) string {
	const most = 40
	text := []rune(types.ExprString(e))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// Indent puts a tab before each line.
func Indent(text string) string { return "\t" + strings.ReplaceAll(text, "\n", "\n\t") }
