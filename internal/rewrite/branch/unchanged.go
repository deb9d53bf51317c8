package branch

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AsItWas returns the text that a function goes through, instead of a copy of the bytes that it makes of it, where these are
// the same: comparing bytes with a text copies nothing.
func AsItWas(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.ReturnStmt_Results {
		return nil
	}
	ret := s.Cur.Parent().Node().(*ast.ReturnStmt)
	stmt, listed := code.Statement(s.Cur)
	copied, made := s.textOf(call)
	if copied == "" || !listed || stmt.Node() != ast.Node(ret) || s.Commented(ret) {
		return nil
	}
	for _, e := range ret.Results {
		if e != ast.Expr(call) && !s.Pure(e) && s.Source(e) != "nil" {
			return nil
		}
	}
	from := s.goneThrough(s.Info().TypeOf(call))
	if from == nil || s.Lookup(from.Name(), ret.Pos()) != types.Object(from) || s.comparedBefore(stmt, from) {
		return nil
	}
	same := string(s.Text[s.Offset(ret.Pos()):s.Offset(call.Pos())]) + from.Name() + string(s.Text[s.Offset(call.End()):s.Offset(ret.End())])
	return []code.Edit{{Text: fmt.Sprintf("return `%s` itself where `%s` is the same", from.Name(), code.Brief(made)),
		Open:    fmt.Sprintf("the result keeps all that `%s` is a part of in memory", from.Name()),
		Changes: []code.Change{s.Before(ret, fmt.Sprintf("if %s == %s {\n%s\n}", copied, from.Name(), same))}}}
}

// textOf is the comparable text of what a call copies into a string, and what it copies: bytes, or those of a bytes.Buffer.
func (s *site) textOf(call *ast.CallExpr) (copied, made string) {
	if s.Callee(call) == "(*bytes.Buffer).String" {
		sel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
		if made = s.Source(sel.X); s.Pure(sel.X) {
			return "string(" + made + ".Bytes())", made
		}
		return "", ""
	}
	if len(call.Args) != 1 || !s.Info().Types[call.Fun].IsType() || !code.IsString(s.Info().TypeOf(call)) || !code.IsBytes(s.Info().TypeOf(call.Args[0])) {
		return "", ""
	}
	x := ast.Unparen(call.Args[0])
	if slice, ok := x.(*ast.SliceExpr); ok {
		for _, e := range []ast.Expr{slice.Low, slice.High} {
			if e != nil && !s.Pure(e) && s.Info().Types[e].Value == nil {
				return "", ""
			}
		}
		x = slice.X
	}
	if !s.Pure(x) {
		return "", ""
	}
	return s.Source(call), s.Source(call.Args[0])
}

// goneThrough is the only text of a type that loops of the function range over, or index; nil for none or several.
func (s *site) goneThrough(t types.Type) *types.Var {
	fn, body := code.Function(s.Cur)
	if body == nil {
		return nil
	}
	var found *types.Var
	one := true
	take := func(e ast.Expr, at inspector.Cursor) {
		v := s.Local(e)
		if v == nil || !types.Identical(v.Type(), t) || !code.Within(at, fn) {
			return
		}
		one = one && (found == nil || found == v)
		found = v
	}
	for c := range fn.Preorder((*ast.RangeStmt)(nil), (*ast.ForStmt)(nil)) {
		if r, ok := c.Node().(*ast.RangeStmt); ok {
			take(r.X, c)
		}
		for i := range c.Preorder((*ast.IndexExpr)(nil)) {
			take(i.Node().(*ast.IndexExpr).X, i)
		}
	}
	if !one {
		return nil
	}
	return found
}

// comparedBefore reports whether the statement before another compares with a text.
func (s *site) comparedBefore(stmt inspector.Cursor, v *types.Var) bool {
	before, ok := stmt.PrevSibling()
	if !ok {
		return false
	}
	guard, isIf := before.Node().(*ast.IfStmt)
	return isIf && s.names(guard.Cond, v)
}
