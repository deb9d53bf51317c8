package parts

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// LastPart takes the part behind the last separator of a text, or behind the first one of two parts, where a slice of the
// parts is only asked for its last one.
func LastPart(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || len(call.Args) < 2 {
		return nil
	}
	find := ""
	switch s.Callee(call) {
	case "strings.Split":
		find = "LastIndex"
	case "strings.SplitN":
		if s.isNumber(call.Args[2], 2) {
			find = "Index"
		}
	}
	v, stmt := s.Defined()
	fn, body := code.Function(s.Cur)
	sel, isSel := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	sep, constant := s.ConstString(call.Args[1])
	if find == "" || v == nil || body == nil || !isSel || !constant || sep == "" {
		return nil
	}
	uses := s.Uses(v, fn)[1:]
	var changes []code.Change
	for _, u := range uses {
		if u.ParentEdgeKind() == edge.IndexExpr_X && s.isLast(u.Parent(), v) {
			changes = append(changes, s.Replace(u.Parent().Node(), v.Name()))
		}
	}
	if len(changes) == 0 || len(uses) != 2*len(changes) { // each names the slice twice
		return nil
	}
	pkg, text, name := s.Source(sel.X), call.Args[0], v.Name()
	if len(sep) == 1 && s.Pure(text) {
		changes = append(changes, s.Replace(call, fmt.Sprintf("%s[%s.%sByte(%[1]s, %[4]s)+1:]", s.Source(text), pkg, find, strconv.QuoteRuneToASCII(rune(sep[0])))))
	} else { // the text stays where it is, so that other edits can change it
		at := s.Fresh("at", call.Pos())
		behind := fmt.Sprintf("\nif %s := %s.%s(%s, %s); %[1]s >= 0 {\n%[4]s = %[4]s[%[1]s+%[6]d:]\n}", at, pkg, find, name, s.Source(call.Args[1]), len(sep))
		changes = append(changes, code.Change{From: s.Offset(call.Pos()), To: s.Offset(text.Pos())}, code.Change{From: s.Offset(text.End()), To: s.Offset(stmt.Node().End()), Text: behind})
	}
	return []code.Edit{{Text: fmt.Sprintf("take the last part of `%s` without a slice of all parts", code.Brief(s.Source(text))), Changes: changes}}
}

// isLast reports whether an index expression reads the last element of a variable's slice.
func (s *site) isLast(index inspector.Cursor, v *types.Var) bool {
	switch index.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.IncDecStmt_X:
		return false
	case edge.UnaryExpr_X:
		if index.Parent().Node().(*ast.UnaryExpr).Op == token.AND {
			return false
		}
	}
	minus, ok := ast.Unparen(index.Node().(*ast.IndexExpr).Index).(*ast.BinaryExpr)
	if !ok || minus.Op != token.SUB || !s.isNumber(minus.Y, 1) {
		return false
	}
	length := s.Builtin(minus.X, "len")
	return length != nil && s.Local(length.Args[0]) == v
}
