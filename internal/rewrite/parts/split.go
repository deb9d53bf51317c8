package parts

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// SplitSeq walks through the parts of a string without a slice of all of them.
func SplitSeq(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || !s.Since("go1.24") {
		return nil
	}
	loop := s.rangedOver()
	if loop == nil || loop.Value == nil || loop.Tok != token.DEFINE {
		return nil
	}
	if id, _ := loop.Key.(*ast.Ident); id == nil || id.Name != "_" {
		return nil
	}
	full := s.Callee(call)
	switch full {
	case "strings.Split", "strings.SplitAfter", "strings.Fields", "bytes.Split", "bytes.SplitAfter", "bytes.Fields":
	default:
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("take the parts one by one from %sSeq", full), Changes: []code.Change{
		{From: s.Offset(loop.Key.Pos()), To: s.Offset(loop.Value.Pos())}, s.Replace(sel.Sel, sel.Sel.Name+"Seq")}}
	if strings.HasPrefix(full, "bytes.") {
		e.Open = "the bytes must not change before the loop has walked through them"
	}
	return []code.Edit{e}
}

// rangedOver is the loop that goes through what the site makes, by itself or as the only use of a variable; nil if
// more is done with it.
func (s *site) rangedOver() *ast.RangeStmt {
	at := s.Cur
	if at.ParentEdgeKind() == edge.AssignStmt_Rhs {
		assign := at.Parent().Node().(*ast.AssignStmt)
		fn, body := code.Function(at)
		if body == nil || assign.Tok != token.DEFINE || len(assign.Lhs) != 1 || s.Local(assign.Lhs[0]) == nil {
			return nil
		}
		uses := s.Uses(s.Local(assign.Lhs[0]), fn) // the first is where it is declared
		if len(uses) != 2 || uses[0].Node() != ast.Node(assign.Lhs[0]) {
			return nil
		}
		at = uses[1]
	}
	if at.ParentEdgeKind() != edge.RangeStmt_X {
		return nil
	}
	return at.Parent().Node().(*ast.RangeStmt)
}

// SplitCut takes the first part of a string without a slice of all of them.
func SplitCut(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.IndexExpr_X || len(call.Args) < 2 {
		return nil
	}
	full := s.Callee(call)
	index := s.Cur.Parent().Node().(*ast.IndexExpr)
	if full != "strings.Split" && full != "strings.SplitN" || !s.IsZero(index.Index) {
		return nil
	}
	if sep, ok := s.ConstString(call.Args[1]); !ok || sep == "" {
		return nil
	}
	if full == "strings.SplitN" && !s.atLeastTwo(call.Args[2]) {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	stmt, ok := s.Cur.Parent().Parent().Node().(*ast.AssignStmt)
	if !ok || len(stmt.Lhs) != 1 || len(stmt.Rhs) != 1 || stmt.Rhs[0] != ast.Expr(index) || !s.Since("go1.18") {
		return s.cutBefore(index, call, sel)
	}
	text := fmt.Sprintf("%s.Cut(%s, %s)", s.Source(sel.X), s.Source(call.Args[0]), s.Source(call.Args[1]))
	lhs := s.Source(stmt.Lhs[0]) + ", _, _"
	return []code.Edit{{Text: "take the first part by strings.Cut",
		Changes: []code.Change{s.Replace(stmt.Lhs[0], lhs), s.Replace(index, text)}}}
}

// cutBefore takes the first part in a statement before the one that uses it: a return or an
// assignment that evaluates it in any case, and before which nothing that it names can change.
func (s *site) cutBefore(index *ast.IndexExpr, call *ast.CallExpr, sel *ast.SelectorExpr) []code.Edit {
	stmt, ok := code.Statement(s.Cur)
	if !ok || !s.Pure(call.Args[0]) {
		return nil
	}
	switch stmt.Node().(type) {
	case *ast.ReturnStmt, *ast.AssignStmt:
	default:
		return nil
	}
	others := 0
	ast.Inspect(stmt.Node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if n.Pos() < call.Pos() && n.End() <= call.Pos() {
				others++ // it may change what is cut
			}
		case *ast.BinaryExpr:
			if n.Op == token.LAND || n.Op == token.LOR {
				others++
			}
		case *ast.FuncLit:
			others++
		}
		return true
	})
	if others > 0 {
		return nil
	}
	name := s.Fresh("first", call.Pos())
	line := s.cut(cutting{pkg: s.Source(sel.X), text: s.Source(call.Args[0]), sep: call.Args[1]}, []string{name, "_", "_"})
	return []code.Edit{{Text: "take the first part without the others", Changes: []code.Change{s.Before(stmt.Node(), line), s.Replace(index, name)}}}
}

// atLeastTwo reports whether e is a constant of 2 or more, or negative.
func (s *site) atLeastTwo(e ast.Expr) bool {
	v := s.Info().Types[e].Value
	return v != nil && v.String() != "0" && v.String() != "1"
}
