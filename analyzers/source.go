package analyzers

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

// source is a package as one rule sees it.
type source struct {
	*analysis.Pass
	*index
	code string
}

func newSource(pass *analysis.Pass, code string) *source {
	return &source{pass, pass.ResultOf[indexer].(*index), code}
}

func (s *source) report(at ast.Node, format string, args ...any) {
	s.diagnose(analysis.Diagnostic{Pos: at.Pos(), End: at.End(), Message: fmt.Sprintf(format, args...)})
}

// each calls visit for the nodes of the given types in the files that the
// rules look at.
func (s *source) each(visit func(inspector.Cursor), types ...ast.Node) {
	for _, file := range s.files {
		for c := range file.Preorder(types...) {
			visit(c)
		}
	}
}

// eachCall calls visit for the calls of the named functions (types.Func.FullName)
// that may run often.
func (s *source) eachCall(visit func(c inspector.Cursor, call *ast.CallExpr), names ...string) {
	for _, name := range names {
		for _, c := range s.calls[name] {
			if !s.cold(c) {
				visit(c, c.Node().(*ast.CallExpr))
			}
		}
	}
}

// since reports whether the file of c may use the given version of Go.
func (s *source) since(c inspector.Cursor, goVersion string) bool {
	for f := range c.Enclosing((*ast.File)(nil)) {
		v := s.TypesInfo.FileVersions[f.Node().(*ast.File)]
		return v == "" || version.Compare(v, goVersion) >= 0
	}
	return false
}

// calleeName is the full name of the function or method that call statically
// names, or "".
func (s *source) calleeName(call *ast.CallExpr) string {
	if fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func); ok {
		return fn.FullName()
	}
	return ""
}

// isCallOf reports whether e calls one of the named functions.
func (s *source) isCallOf(e ast.Expr, names ...string) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	full := s.calleeName(call)
	for _, name := range names {
		if full == name {
			return call, true
		}
	}
	return nil, false
}

// builtin returns the call that e is, if it is one of the named builtin
// function, not of something that hides it.
func (s *source) builtin(e ast.Expr, name string) (*ast.CallExpr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return nil, false
	}
	b, ok := typeutil.Callee(s.TypesInfo, call).(*types.Builtin)
	return call, ok && b.Name() == name
}

// conversion returns the operand of a conversion of from to to.
func (s *source) conversion(e ast.Expr, to, from func(types.Type) bool) (ast.Expr, bool) {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !s.TypesInfo.Types[call.Fun].IsType() {
		return nil, false
	}
	operand := ast.Unparen(call.Args[0])
	t, f := s.TypesInfo.TypeOf(call.Fun), s.TypesInfo.TypeOf(operand)
	return operand, t != nil && f != nil && to(t) && from(f)
}

// bytesOf returns s of []byte(s), s being a string.
func (s *source) bytesOf(e ast.Expr) (ast.Expr, bool) { return s.conversion(e, isBytes, isString) }

// stringOf returns b of string(b), b being a []byte.
func (s *source) stringOf(e ast.Expr) (ast.Expr, bool) { return s.conversion(e, isString, isBytes) }

// object returns the variable that e names, or nil.
func (s *source) object(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, _ := s.TypesInfo.ObjectOf(id).(*types.Var)
	return v
}

// field returns the struct field that e selects, or nil.
func (s *source) field(e ast.Expr) *types.Var {
	if sel, ok := ast.Unparen(e).(*ast.SelectorExpr); ok {
		if v, ok := s.TypesInfo.ObjectOf(sel.Sel).(*types.Var); ok && v.IsField() {
			return v
		}
	}
	return nil
}

func (s *source) constant(e ast.Expr) constant.Value { return s.TypesInfo.Types[e].Value }

func (s *source) isConstant(e ast.Expr) bool { return s.constant(e) != nil }

// constantString returns the value of a constant string.
func (s *source) constantString(e ast.Expr) (string, bool) {
	v := s.constant(e)
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// intValue returns the value of a constant integer.
func (s *source) intValue(e ast.Expr) (int64, bool) {
	v := s.constant(e)
	if v == nil || v.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(v)
}

func (s *source) isInt(e ast.Expr, want int64) bool {
	n, ok := s.intValue(e)
	return ok && n == want
}

func (s *source) isNil(e ast.Expr) bool { return s.TypesInfo.Types[e].IsNil() }

// mentions reports whether v is named below c.
func (s *source) mentions(c inspector.Cursor, v *types.Var) bool {
	for _, use := range s.uses[v] {
		if c.Contains(use) {
			return true
		}
	}
	return false
}

// mentionsIn is mentions for a node without a cursor of its own.
func (s *source) mentionsIn(n ast.Node, v *types.Var) bool {
	for _, use := range s.uses[v] {
		if n.Pos() <= use.Node().Pos() && use.Node().End() <= n.End() {
			return true
		}
	}
	return false
}

// pure reports whether e can be evaluated earlier, or twice, without anybody
// noticing: names, fields, elements, constants, arithmetic, len and cap.
func (s *source) pure(e ast.Expr) bool {
	if s.isConstant(e) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return s.pure(e.X)
	case *ast.StarExpr:
		return s.pure(e.X)
	case *ast.IndexExpr:
		return s.pure(e.X) && s.pure(e.Index)
	case *ast.BinaryExpr:
		return s.pure(e.X) && s.pure(e.Y)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && s.pure(e.X)
	case *ast.CallExpr:
		if len(e.Args) != 1 || !s.pure(e.Args[0]) {
			return false
		}
		_, isLen := s.builtin(e, "len")
		_, isCap := s.builtin(e, "cap")
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

// brief is the source text of e, cut where it would fill a message.
func brief(e ast.Expr) string {
	const most = 40
	text := []rune(types.ExprString(e))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

func indent(text string) string { return "\t" + strings.ReplaceAll(text, "\n", "\n\t") }
