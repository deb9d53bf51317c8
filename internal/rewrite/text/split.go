package text

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
	if !ok || !s.Since("go1.24") || s.Cur.ParentEdgeKind() != edge.RangeStmt_X {
		return nil
	}
	loop := s.Cur.Parent().Node().(*ast.RangeStmt)
	id, _ := loop.Key.(*ast.Ident)
	if loop.Value == nil || loop.Tok != token.DEFINE || id == nil || id.Name != "_" {
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
		e.Open = "the loop must not change the bytes that it walks through"
	}
	return []code.Edit{e}
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

// EqualFold compares text without regard to case, and without a copy in one case.
func EqualFold(on *code.Site) []code.Edit {
	s := &site{on}
	cmp, ok := s.Cur.Node().(*ast.BinaryExpr)
	if !ok || cmp.Op != token.EQL && cmp.Op != token.NEQ {
		return nil
	}
	x, y := cmp.X, cmp.Y
	if s.caseOf(x) == "" {
		x, y = y, x
	}
	in := s.caseOf(x)
	if in == "" {
		return nil
	}
	e := code.Edit{}
	a, b := x.(*ast.CallExpr).Args[0], y
	if text, constant := s.ConstString(y); constant {
		if e.Open, ok = FoldsAs(text, in); !ok {
			return nil
		}
	} else if s.caseOf(y) == in {
		b = y.(*ast.CallExpr).Args[0]
		e.Open = "a few letters, such as ſ and s, are equal to each other then, or no longer are"
	} else {
		return nil
	}
	sel, ok := x.(*ast.CallExpr).Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	not := ""
	if cmp.Op == token.NEQ {
		not = "!"
	}
	text := fmt.Sprintf("%s%s.EqualFold(%s, %s)", not, s.Source(sel.X), s.Source(a), s.Source(b))
	e.Text, e.Changes = fmt.Sprintf("compare by %s, which makes no copy", text), []code.Change{s.Replace(cmp, text)}
	return []code.Edit{e}
}

// caseOf is the function that brings a string into one case, if e calls one.
func (s *site) caseOf(e ast.Expr) string {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return ""
	}
	if name := s.Callee(call); name == "strings.ToLower" || name == "strings.ToUpper" {
		return name
	}
	return ""
}

// FoldsAs reports whether a constant of ASCII letters in the right case can be compared by
// EqualFold, and for which letters the result is another. Beside the two cases, k has the Kelvin
// sign and s the long s; ToLower makes i of the dotted İ, ToUpper I of the dotless ı.
func FoldsAs(text, in string) (open string, ok bool) {
	change, odd := strings.ToLower, "is"
	if in == "strings.ToUpper" {
		change, odd = strings.ToUpper, "IK"
	}
	for _, r := range text {
		if r >= 0x80 {
			return "", false
		}
	}
	if change(text) != text {
		return "", false // never equal: that is another fault
	}
	if strings.ContainsAny(text, odd) {
		open = "letters such as ſ (for s), K (for K), ı and İ (for i) compare in another way then"
	}
	return open, true
}

// atLeastTwo reports whether e is a constant of 2 or more, or negative.
func (s *site) atLeastTwo(e ast.Expr) bool {
	v := s.Info().Types[e].Value
	return v != nil && v.String() != "0" && v.String() != "1"
}
