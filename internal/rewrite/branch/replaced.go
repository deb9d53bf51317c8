package branch

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// ReplacedThere guards bytes.Replace with bytes.Contains: Replace copies the text even if it replaces nothing.
func ReplacedThere(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok {
		return nil
	}
	full := s.Callee(call)
	sel, isSel := call.Fun.(*ast.SelectorExpr)
	stmt, listed := code.Statement(s.Cur)
	if full != "bytes.Replace" && full != "bytes.ReplaceAll" || !isSel || !listed || len(call.Args) < 3 ||
		!s.Pure(call.Args[0]) || slices.ContainsFunc(call.Args[1:], func(e ast.Expr) bool { return !s.cheap(e) }) || s.empty(call.Args[1]) {
		return nil
	}
	text := s.Source(call.Args[0])
	asked := fmt.Sprintf("%s.Contains(%s, %s)", s.Source(sel.X), text, s.Source(call.Args[1]))
	if before, more := stmt.PrevSibling(); more && s.asks(before.Node(), "!"+asked) || s.askedAround(stmt, asked) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("ask whether `%s` is there before it is replaced", code.Brief(s.Source(call.Args[1]))),
		Open: fmt.Sprintf("nothing may change the result, or `%s`, while the other is used: where nothing is replaced they are one", text)}
	switch n := stmt.Node().(type) {
	case *ast.AssignStmt:
		if n.Tok != token.ASSIGN || len(n.Lhs) != 1 || n.Rhs[0] != ast.Expr(call) || s.Source(n.Lhs[0]) != text {
			return nil
		}
		e.Changes = []code.Change{s.Replace(n, fmt.Sprintf("if %s {\n%s\n}", asked, s.Source(n)))}
	case *ast.ReturnStmt:
		if s.Cur.ParentEdgeKind() != edge.ReturnStmt_Results || len(n.Results) != 1 {
			return nil
		}
		e.Changes = []code.Change{s.Before(n, fmt.Sprintf("if !%s {\nreturn %s\n}", asked, text))}
	default:
		return nil
	}
	return []code.Edit{e}
}

// asks reports whether a statement is an if with a condition.
func (s *site) asks(n ast.Node, cond string) bool {
	i, ok := n.(*ast.IfStmt)
	return ok && s.Source(i.Cond) == cond
}

// cheap reports whether an expression has no effects and makes nothing that stays: a constant, a name, or bytes of either.
func (s *site) cheap(e ast.Expr) bool {
	if s.Info().Types[e].Value != nil {
		return true
	}
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if ok && len(call.Args) == 1 && s.Info().Types[call.Fun].IsType() {
		return s.Info().Types[call.Args[0]].Value != nil || s.Pure(call.Args[0])
	}
	return s.Pure(e)
}

// empty reports whether bytes are those of an empty constant, which is in every text.
func (s *site) empty(e ast.Expr) bool {
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return false
	}
	return len(call.Args) == 1 && s.IsEmptyString(call.Args[0])
}
