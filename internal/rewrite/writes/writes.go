// Package writes has the edits of what is written to builders and buffers in memory, which take everything and give
// no errors.
package writes

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// site is an expression or statement at a place.
type site struct{ *code.Site }

// InParts writes the parts of a concatenation one by one, without the text that they make. They are all evaluated
// before the first is written, so that nothing may show which was written when another is evaluated: no calls, and
// no panic.
func InParts(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	stmt, listed := code.Statement(s.Cur)
	if !ok || !listed || s.Cur.ParentEdgeKind() != edge.ExprStmt_X || stmt != s.Cur.Parent() || len(call.Args) != 1 || s.Commented(stmt.Node()) {
		return nil
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if name := s.Callee(call); !ok || name != "(*bytes.Buffer).WriteString" && name != "(*strings.Builder).WriteString" || !s.Pure(sel.X) {
		return nil
	}
	parts := s.sum(call.Args[0])
	if len(parts) < 2 {
		return nil
	}
	followed := map[string]bool{}
	s.follow(sel, followed)
	var lines []string
	for i, p := range parts {
		if _, fixed := s.ConstString(p); !fixed && !s.Pure(p) || i > 0 && !s.followedBefore(p, followed) {
			return nil
		}
		s.follow(p, followed)
		lines = append(lines, fmt.Sprintf("%s(%s)", s.Source(sel), s.Source(p)))
	}
	return []code.Edit{{Text: fmt.Sprintf("write the %d parts of the text one by one", len(parts)), Changes: []code.Change{s.Replace(stmt.Node(), strings.Join(lines, "\n"))}}}
}

// sum are the operands of a concatenation; what is constant is one.
func (s *site) sum(e ast.Expr) []ast.Expr {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.Op != token.ADD || s.Info().Types[e].Value != nil {
		return []ast.Expr{e}
	}
	return append(s.sum(b.X), s.sum(b.Y)...)
}

// follow notes what the selectors of an expression go through.
func (s *site) follow(e ast.Expr, to map[string]bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			to[s.Source(sel.X)] = true
		}
		return true
	})
}

// followedBefore reports whether an expression goes through no pointer but those that were followed: another may be nil.
func (s *site) followedBefore(e ast.Expr, followed map[string]bool) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if sel, is := n.(*ast.SelectorExpr); is {
			if t := s.Info().TypeOf(sel.X); t != nil {
				_, pointer := t.Underlying().(*types.Pointer)
				ok = ok && (!pointer || followed[s.Source(sel.X)])
			}
		}
		return ok
	})
	return ok
}
