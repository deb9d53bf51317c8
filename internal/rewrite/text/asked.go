package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CompareValues compares two values of one type instead of their texts.
func CompareValues(on *code.Site) []code.Edit {
	s := &site{on}
	cmp, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ {
		return nil
	}
	x, y := s.textOf(cmp.X), s.textOf(cmp.Y)
	if x == nil || y == nil {
		return nil
	}
	t := s.Info().TypeOf(x)
	if _, pointer := t.Underlying().(*types.Pointer); pointer || !types.Identical(t, s.Info().TypeOf(y)) || !types.Comparable(t) || types.IsInterface(t) {
		return nil
	}
	text := fmt.Sprintf("%s %s %s", s.Source(x), cmp.Op, s.Source(y))
	return []code.Edit{{Text: fmt.Sprintf("compare the values, `%s`, instead of their texts", code.Brief(text)),
		Open:    fmt.Sprintf("two values of %s must have the same text only if they are equal", types.TypeString(t, types.RelativeTo(s.Pkg.Types))),
		Changes: []code.Change{s.Replace(cmp, text)}}}
}

// textOf is the value whose String method an expression calls; nil for other expressions.
func (s *site) textOf(e ast.Expr) ast.Expr {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "String" || s.Info().Selections[sel] == nil || !isStringer(s.Info().TypeOf(sel.X)) {
		return nil
	}
	switch sel.X.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.CallExpr:
		return sel.X
	}
	return nil
}

// StringAsIs takes a string out of an interface as it is, where fmt would make a copy of it.
func StringAsIs(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	x := s.onlyPrinted(call)
	fn := code.Declaration(s.Cur)
	if x == nil || fn == nil || !types.IsInterface(s.Info().TypeOf(x)) || types.NewMethodSet(s.Info().TypeOf(x)).Len() > 0 {
		return nil
	}
	if _, generic := types.Unalias(s.Info().TypeOf(x)).(*types.TypeParam); generic || s.knownNoString(fn, x) {
		return nil
	}
	printed := string(s.Text[s.Offset(call.Pos()):s.Offset(x.Pos())])
	name := s.FreshDeclared("textOf", s.Name+printed) // those of one file share it
	any := "interface{}"
	if s.Since("go1.18") {
		any = "any"
	}
	decl := fmt.Sprintf("\n// %s is v as fmt prints it, and a string as it is.\nfunc %[1]s(v %s) string {\nif s, ok := v.(string); ok {\nreturn s\n}\nreturn %sv)\n}\n", name, any, printed)
	return []code.Edit{{Text: fmt.Sprintf("take `%s` as it is where it holds a string", code.Brief(s.Source(x))),
		Changes: []code.Change{s.Insert(len(s.Text), decl), s.Replace(call, fmt.Sprintf("%s(%s)", name, s.Source(x)))}}}
}

// onlyPrinted is the only value that a call of fmt makes text of, as it prints it by itself; nil for other
// calls.
func (s *site) onlyPrinted(call *ast.CallExpr) ast.Expr {
	if call.Ellipsis.IsValid() || len(call.Args) == 0 {
		return nil
	}
	switch s.Callee(call) {
	case "fmt.Sprint":
		if len(call.Args) == 1 {
			return call.Args[0]
		}
	case "fmt.Sprintf":
		format, ok := s.ConstString(call.Args[0])
		if ok && len(call.Args) == 2 && (format == "%s" || format == "%v") {
			return call.Args[1]
		}
	}
	return nil
}

// knownNoString reports whether the code before the site has asked whether a value is a string: by an assertion,
// or by a switch around it.
func (s *site) knownNoString(fn *ast.FuncDecl, x ast.Expr) bool {
	isString := func(e ast.Expr) bool {
		return e != nil && s.Info().Types[e].IsType() && types.Identical(s.Info().TypeOf(e), types.Typ[types.String])
	}
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.TypeAssertExpr); ok && a.Pos() < s.Cur.Node().Pos() && s.Source(a.X) == s.Source(x) {
			found = found || isString(a.Type)
		}
		return !found
	})
	for c := range s.Cur.Enclosing((*ast.TypeSwitchStmt)(nil)) {
		for _, clause := range c.Node().(*ast.TypeSwitchStmt).Body.List {
			found = found || slices.ContainsFunc(clause.(*ast.CaseClause).List, isString)
		}
	}
	return found
}
