package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// matches has the twin for strings of each method that returns parts of bytes.
var matches = map[string]string{
	"(*regexp.Regexp).FindSubmatch": "FindStringSubmatch", "(*regexp.Regexp).FindAll": "FindAllString",
}

// AskMatches lets a regular expression find its matches in a string, where it found them in a copy as bytes and each became
// a string again.
func AskMatches(on *code.Site) []code.Edit {
	s := &site{on}
	conv, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || s.ofText(conv) == nil {
		return nil
	}
	at := s.Cur.Parent()
	call := at.Node().(*ast.CallExpr)
	name := matches[s.Callee(call)]
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if name == "" || !ok || !code.Named(s.Info().TypeOf(sel.X), "regexp.Regexp") || at.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return nil
	}
	v, _ := (&code.Site{File: s.File, Cur: at, Place: s.Place}).Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	changes := []code.Change{s.Replace(sel.Sel, name), s.Replace(conv, s.Source(conv.Args[0]))}
	for _, u := range s.Uses(v, fn) {
		switch kind := u.ParentEdgeKind(); {
		case u.Node().Pos() == v.Pos():
		case kind == edge.IndexExpr_X && s.madeText(u.Parent()) != nil:
			changes = append(changes, s.Replace(s.madeText(u.Parent()), s.Source(u.Parent().Node())))
		case kind == edge.IndexExpr_X && s.onlyLen(u.Parent()), s.onlyLen(u), s.againstNil(u):
		default:
			return nil
		}
	}
	return []code.Edit{{Text: fmt.Sprintf("find the matches in `%s` itself, by %s", code.Brief(s.Source(conv.Args[0])), name), Changes: changes,
		Open: "a match that is kept keeps the whole text in memory"}}
}

// madeText is the conversion that makes a string of an expression; nil for other uses.
func (s *site) madeText(c inspector.Cursor) *ast.CallExpr {
	if c.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	conv := c.Parent().Node().(*ast.CallExpr)
	if s.textOfBytes(conv) == nil || !types.Identical(s.Info().TypeOf(conv), types.Typ[types.String]) {
		return nil
	}
	return conv
}

// onlyLen reports whether an expression is only asked for its length.
func (s *site) onlyLen(c inspector.Cursor) bool {
	return c.ParentEdgeKind() == edge.CallExpr_Args && s.Builtin(c.Parent().Node().(ast.Expr), "len") != nil
}

// againstNil reports whether an expression is compared with nil.
func (s *site) againstNil(c inspector.Cursor) bool {
	cmp, ok := c.Parent().Node().(*ast.BinaryExpr)
	return ok && (cmp.Op == token.EQL || cmp.Op == token.NEQ) && s.Info().Types[cmp.Y].IsNil()
}
