package rewrite

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ast/edge"
)

// splitSeq walks through the parts of a string without a slice of all of them.
func splitSeq(s *site) []Edit {
	call, ok := s.cur.Node().(*ast.CallExpr)
	if !ok || !s.since("go1.24") || s.cur.ParentEdgeKind() != edge.RangeStmt_X {
		return nil
	}
	loop := s.cur.Parent().Node().(*ast.RangeStmt)
	id, _ := loop.Key.(*ast.Ident)
	if loop.Value == nil || loop.Tok != token.DEFINE || id == nil || id.Name != "_" {
		return nil
	}
	full := s.callee(call)
	switch full {
	case "strings.Split", "strings.SplitAfter", "strings.Fields", "bytes.Split", "bytes.SplitAfter", "bytes.Fields":
	default:
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	e := Edit{Text: fmt.Sprintf("take the parts one by one from %sSeq", full), Changes: []Change{
		{s.offset(loop.Key.Pos()), s.offset(loop.Value.Pos()), ""}, s.replace(sel.Sel, sel.Sel.Name+"Seq")}}
	if strings.HasPrefix(full, "bytes.") {
		e.Open = "the loop must not change the bytes that it walks through"
	}
	return []Edit{e}
}

// splitCut takes the first part of a string without a slice of all of them.
func splitCut(s *site) []Edit {
	call, ok := s.cur.Node().(*ast.CallExpr)
	if !ok || s.cur.ParentEdgeKind() != edge.IndexExpr_X || len(call.Args) < 2 {
		return nil
	}
	full := s.callee(call)
	index := s.cur.Parent().Node().(*ast.IndexExpr)
	if full != "strings.Split" && full != "strings.SplitN" || !s.isZero(index.Index) {
		return nil
	}
	if sep, ok := s.constString(call.Args[1]); !ok || sep == "" {
		return nil
	}
	stmt, ok := s.cur.Parent().Parent().Node().(*ast.AssignStmt)
	if !ok || len(stmt.Lhs) != 1 || len(stmt.Rhs) != 1 || stmt.Rhs[0] != ast.Expr(index) {
		return nil
	}
	if full == "strings.SplitN" && !s.atLeastTwo(call.Args[2]) {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	text := fmt.Sprintf("%s.Cut(%s, %s)", s.source(sel.X), s.source(call.Args[0]), s.source(call.Args[1]))
	lhs := s.source(stmt.Lhs[0]) + ", _, _"
	return []Edit{{Text: "take the first part by strings.Cut",
		Changes: []Change{s.replace(stmt.Lhs[0], lhs), s.replace(index, text)}}}
}

// atLeastTwo reports whether e is a constant of 2 or more, or negative.
func (s *site) atLeastTwo(e ast.Expr) bool {
	v := s.info().Types[e].Value
	return v != nil && v.String() != "0" && v.String() != "1"
}
