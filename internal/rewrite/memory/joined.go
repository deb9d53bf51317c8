package memory

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// JoinedOnce makes the slice that several appends in one expression put together with its size.
func JoinedOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Builtin(call, "append") == nil {
		return nil
	}
	if s.Cur.ParentEdgeKind() == edge.CallExpr_Args && s.Builtin(s.Cur.Parent().Node().(ast.Expr), "append") != nil && s.Cur.ParentEdgeIndex() == 0 {
		return nil // the outer one is looked at
	}
	slice, ok := s.Info().TypeOf(call).Underlying().(*types.Slice)
	if !ok {
		return nil
	}
	fixed, lens, chained := 0, []string{}, 0
	var base ast.Expr = call
	for {
		inner := s.Builtin(base, "append")
		if inner == nil {
			break
		}
		switch {
		case !inner.Ellipsis.IsValid():
			fixed += len(inner.Args) - 1
		case len(inner.Args) == 2 && s.Pure(inner.Args[1]):
			lens = append([]string{"len(" + s.Source(inner.Args[1]) + ")"}, lens...)
		default:
			return nil
		}
		base, chained = ast.Unparen(inner.Args[0]), chained+1
	}
	lit, ok := base.(*ast.CompositeLit)
	if !ok || len(lens) == 0 || chained+min(len(lit.Elts), 1) < 2 {
		return nil
	}
	var elems []string
	for _, e := range lit.Elts {
		if inner, isLit := e.(*ast.CompositeLit); isLit && inner.Type == nil {
			return nil
		}
		if _, keyed := e.(*ast.KeyValueExpr); keyed {
			return nil
		}
		elems = append(elems, s.Source(e))
	}
	typ := s.TypeText(s.Info().TypeOf(lit))
	if lit.Type != nil {
		typ = s.Source(lit.Type)
	}
	if fixed += len(elems); fixed > 0 {
		lens = append(lens, fmt.Sprint(fixed))
	}
	if typ == "" || s.SizeOf(slice.Elem()) == 0 {
		return nil
	}
	text := fmt.Sprintf("make(%s, 0, %s)", typ, strings.Join(lens, "+"))
	if len(elems) > 0 {
		text = fmt.Sprintf("append(%s, %s)", text, strings.Join(elems, ", "))
	}
	return []code.Edit{{Text: fmt.Sprintf("make the slice with room for %s elements", strings.Join(lens, "+")), Changes: []code.Change{s.Replace(lit, text)}}}
}
