package parts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AskContained asks whether a separator is there, where a string is split to see whether it has two parts.
func AskContained(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || len(call.Args) < 2 {
		return nil
	}
	length := s.Cur.Parent()
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	cmp, isCmp := length.Parent().Node().(*ast.BinaryExpr)
	full := s.Callee(call)
	if !isSel || !isCmp || length.ParentEdgeKind() != edge.BinaryExpr_X || s.Builtin(length.Node().(ast.Expr), "len") == nil ||
		full != "strings.Split" && full != "bytes.Split" && !((full == "strings.SplitN" || full == "bytes.SplitN") && s.atLeastTwo(call.Args[2])) {
		return nil
	}
	n, isConst := s.constInt(cmp.Y)
	not, ok := twoParts(cmp.Op, n)
	if n == 2 && len(call.Args) == 3 && s.isNumber(call.Args[2], 2) && (cmp.Op == token.EQL || cmp.Op == token.NEQ) {
		not, ok = map[token.Token]string{token.NEQ: "!"}[cmp.Op], true
	}
	if !isConst || !ok {
		return nil
	}
	e := code.Edit{Text: "ask whether the separator is there, without the parts"}
	if !s.longerThanNothing(call.Args[1]) {
		e.Open = fmt.Sprintf("`%s` must not be empty", s.Source(call.Args[1]))
	}
	text := fmt.Sprintf("%s%s.Contains(%s, %s)", not, s.Source(sel.X), s.Source(call.Args[0]), s.Source(call.Args[1]))
	e.Changes = []code.Change{s.Replace(cmp, text)}
	return []code.Edit{e}
}

// twoParts says how a comparison of the number of parts is put as a question for the separator: as it is, or
// with a not.
func twoParts(op token.Token, n int64) (not string, ok bool) {
	switch {
	case op == token.GTR && n == 1, op == token.GEQ && n == 2, op == token.NEQ && n == 1:
		return "", true
	case op == token.LEQ && n == 1, op == token.LSS && n == 2, op == token.EQL && n == 1:
		return "!", true
	}
	return "", false
}

// longerThanNothing reports whether a string cannot be empty: a constant, or a character as text.
func (s *site) longerThanNothing(e ast.Expr) bool {
	if text, ok := s.ConstString(e); ok {
		return text != ""
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || len(call.Args) != 1 || !s.Info().Types[call.Fun].IsType() {
		return false
	}
	if text, ok := s.ConstString(call.Args[0]); ok {
		return text != ""
	}
	b := code.Basic(s.Info().TypeOf(call.Args[0]))
	return b != nil && b.Info()&types.IsInteger != 0
}

// CountParts counts the parts of a string without making them.
func CountParts(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || len(call.Args) != 2 {
		return nil
	}
	full := s.Callee(call)
	outer := s.Cur.Parent().Node().(*ast.CallExpr)
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	sep, constant := s.ConstString(call.Args[1])
	if full == "strings.Split" && constant && sep == "" && isSel && s.Builtin(outer, "len") != nil {
		return s.countRunes(call.Args[0], outer)
	}
	known := full == "strings.Split" && constant && sep != "" || full == "bytes.Split" && s.someBytes(call.Args[1])
	if !known || !isSel || s.Builtin(outer, "len") == nil {
		return nil
	}
	text := fmt.Sprintf("%s.Count(%s, %s) + 1", s.Source(sel.X), s.Source(call.Args[0]), s.Source(call.Args[1]))
	if _, operand := s.Cur.Parent().Parent().Node().(ast.Expr); operand {
		text = "(" + text + ")"
	}
	return []code.Edit{{Text: fmt.Sprintf("count the separators by %s.Count", s.Source(sel.X)), Changes: []code.Change{s.Replace(outer, text)}}}
}

// countRunes counts the characters of a text, each of which an empty separator makes a part.
func (s *site) countRunes(text, outer ast.Expr) []code.Edit {
	pkg, imports, ok := s.Use("unicode/utf8", outer.Pos())
	if !ok {
		return nil
	}
	count := fmt.Sprintf("%s.RuneCountInString(%s)", pkg, s.Source(text))
	return []code.Edit{{Text: fmt.Sprintf("count the characters of `%s`", code.Brief(s.Source(text))), Imports: imports, Changes: []code.Change{s.Replace(outer, count)}}}
}

// someBytes reports whether an expression makes a slice of bytes that is not empty.
func (s *site) someBytes(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) > 0
	case *ast.CallExpr:
		if !s.Info().Types[e.Fun].IsType() || len(e.Args) != 1 {
			return false
		}
		text, constant := s.ConstString(e.Args[0])
		return constant && text != ""
	}
	return false
}
