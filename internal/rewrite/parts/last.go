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
// parts is only asked for its last one, and for how many there are.
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
	pkg, text, name := s.Source(sel.X), call.Args[0], v.Name()
	changes, counted := s.asLast(v, fn, fmt.Sprintf("%s.Count(%s, %s) + 1", pkg, s.Source(text), s.Source(call.Args[1])))
	if len(changes) == 0 {
		return nil
	}
	if end := fn.Node().End(); counted && (find != "LastIndex" || len(sep) > 1 || !s.Pure(text) || s.Changed(text, body, stmt.Node().End(), end)) {
		return nil
	}
	if len(sep) == 1 && s.Pure(text) {
		changes = append(changes, s.Replace(call, fmt.Sprintf("%s[%s.%sByte(%[1]s, %[4]s)+1:]", s.Source(text), pkg, find, strconv.QuoteRuneToASCII(rune(sep[0])))))
	} else { // the text stays where it is, so that other edits can change it
		at := s.Fresh("at", call.Pos())
		behind := fmt.Sprintf("\nif %s := %s.%s(%s, %s); %[1]s >= 0 {\n%[4]s = %[4]s[%[1]s+%[6]d:]\n}", at, pkg, find, name, s.Source(call.Args[1]), len(sep))
		changes = append(changes, code.Change{From: s.Offset(call.Pos()), To: s.Offset(text.Pos())}, code.Change{From: s.Offset(text.End()), To: s.Offset(stmt.Node().End()), Text: behind})
	}
	return []code.Edit{{Text: fmt.Sprintf("take the last part of `%s` without a slice of all parts", code.Brief(s.Source(text))), Changes: changes}}
}

// asLast makes the last element of a variable's slice the variable itself, and its length the number given; none where
// it is used in another way.
func (s *site) asLast(v *types.Var, fn inspector.Cursor, number string) (changes []code.Change, counted bool) {
	parts := 0
	for _, u := range s.Uses(v, fn)[1:] {
		switch {
		case !code.Within(u, fn):
			return nil, false
		case u.ParentEdgeKind() == edge.IndexExpr_X && s.isLast(u.Parent(), v):
			parts++
			changes = append(changes, s.Replace(u.Parent().Node(), v.Name()))
		case u.ParentEdgeKind() == edge.CallExpr_Args && s.Builtin(u.Parent().Node().(ast.Expr), "len") != nil:
			if s.inLast(u, v) {
				continue
			}
			text := number
			if _, operand := u.Parent().Parent().Node().(*ast.BinaryExpr); operand {
				text = "(" + number + ")"
			}
			counted, changes = true, append(changes, s.Replace(u.Parent().Node(), text))
		default:
			return nil, false
		}
	}
	if parts == 0 {
		return nil, false
	}
	return changes, counted
}

// inLast reports whether a name of a variable's slice stands in an index expression that reads its last element.
func (s *site) inLast(u inspector.Cursor, v *types.Var) bool {
	for index := range u.Enclosing((*ast.IndexExpr)(nil)) {
		return s.Local(index.Node().(*ast.IndexExpr).X) == v && s.isLast(index, v)
	}
	return false
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
	if n := s.Local(minus.X); n != nil {
		length = s.lengthIn(n, index)
	}
	return length != nil && s.Local(length.Args[0]) == v
}

// lengthIn is the call of len that alone gives a variable its value.
func (s *site) lengthIn(n *types.Var, at inspector.Cursor) *ast.CallExpr {
	fn, _ := code.Function(at)
	var length *ast.CallExpr
	for _, u := range s.Uses(n, fn) {
		switch u.ParentEdgeKind() {
		case edge.AssignStmt_Lhs:
			assign := u.Parent().Node().(*ast.AssignStmt)
			if u.Node().Pos() != n.Pos() || len(assign.Lhs) != 1 {
				return nil
			}
			length = s.Builtin(assign.Rhs[0], "len")
		case edge.IncDecStmt_X, edge.UnaryExpr_X:
			return nil
		}
	}
	return length
}
