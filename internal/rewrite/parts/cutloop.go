package parts

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CutLoop cuts one part after the other off a string, in place of a loop over a slice of all of them: where the module's
// Go has no SplitSeq, or the loop counts the parts.
func CutLoop(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.RangeStmt_X || s.Callee(call) != "strings.Split" {
		return nil
	}
	loop := s.Cur.Parent().Node().(*ast.RangeStmt)
	part, isName := loop.Value.(*ast.Ident)
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	sep, constant := s.ConstString(call.Args[1])
	if !constant || sep == "" || !isName || !isSel || part.Name == "_" || loop.Tok != token.DEFINE {
		return nil
	}
	index := loop.Key.(*ast.Ident).Name
	if index == "_" && s.Since("go1.24") || index != "_" && !s.counts(loop) {
		return nil
	}
	rest, more := s.Fresh("rest", loop.Pos()), s.Fresh("more", loop.Pos())
	head := fmt.Sprintf("for %s, %s := %s, true; %[2]s; {", rest, more, s.Source(call.Args[0]))
	if index != "_" {
		head = fmt.Sprintf("for %s, %s, %s := 0, %s, true; %[3]s; %[1]s++ {", index, rest, more, s.Source(call.Args[0]))
	}
	pkg, by := s.Source(sel.X), s.Source(call.Args[1])
	if s.Since("go1.18") {
		head += fmt.Sprintf("\nvar %[1]s string\n%[1]s, %[2]s, %[3]s = %[4]s.Cut(%[2]s, %[5]s)", part.Name, rest, more, pkg, by)
	} else {
		at := s.Fresh("at", loop.Pos())
		head += fmt.Sprintf("\n%[1]s := %[2]s\nif %[3]s := %[4]s.Index(%[2]s, %[5]s); %[3]s >= 0 {\n%[1]s, %[2]s = %[2]s[:%[3]s], %[2]s[%[3]s+%[6]d:]\n} else {\n%[7]s = false\n}",
			part.Name, rest, at, pkg, by, len(sep), more)
	}
	return []code.Edit{{Text: "cut one part after the other off", Changes: []code.Change{
		{From: s.Offset(loop.For), To: s.Offset(loop.Body.Lbrace) + 1, Text: head}}}}
}

// counts reports whether the body of a loop only reads the number of the turn, and no function literal does.
func (s *site) counts(loop *ast.RangeStmt) bool {
	fn, _ := code.Function(s.Cur)
	v := s.Local(loop.Key)
	if v == nil {
		return false
	}
	return !slices.ContainsFunc(s.Uses(v, fn), func(u inspector.Cursor) bool {
		switch u.ParentEdgeKind() {
		case edge.AssignStmt_Lhs, edge.IncDecStmt_X:
			return true
		case edge.UnaryExpr_X:
			return u.Parent().Node().(*ast.UnaryExpr).Op == token.AND
		}
		return !code.Within(u, fn)
	})
}
