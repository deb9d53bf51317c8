// Package putback has the edit that puts an object back into the sync.Pool that it was taken from, where nothing else does.
package putback

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

type site struct{ *code.Site }

// PutBack gives back to a sync.Pool, at the end of the function, what was taken from it and is never put
// back.
func PutBack(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "(*sync.Pool).Get" {
		return nil
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	got := s.Cur
	if got.ParentEdgeKind() == edge.TypeAssertExpr_X {
		got = got.Parent()
	}
	if ok && got.ParentEdgeKind() == edge.ReturnStmt_Results && !s.putsTo(sel.X) {
		return s.byCallers(sel.X)
	}
	if !ok || got.ParentEdgeKind() != edge.AssignStmt_Rhs || !s.Pure(sel.X) || s.putsTo(sel.X) {
		return nil
	}
	assign := got.Parent().Node().(*ast.AssignStmt)
	stmt, listed := code.Statement(got)
	if !listed || stmt.Node() != ast.Node(assign) || len(assign.Lhs) != 1 {
		return nil
	}
	v := s.Local(assign.Lhs[0])
	if v == nil {
		return nil
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		return nil
	}
	fn, body := code.Function(got)
	for _, u := range s.Uses(v, fn) {
		if code.Within(u, fn) && u.Node().End() <= assign.End() {
			continue // what it was before, which is nothing of the pool's
		}
		if u.ParentEdgeKind() == edge.AssignStmt_Lhs || u.ParentEdgeKind() == edge.ReturnStmt_Results || !code.Within(u, fn) {
			return nil
		}
	}
	if stmt.Parent().Node() != ast.Node(body) || v.Pos() < body.Pos() {
		return nil // a defer in a loop or a branch, or a result
	}
	return []code.Edit{{Text: fmt.Sprintf("put `%s` back at the end of the function", v.Name()),
		Open:    fmt.Sprintf("nothing may use `%s` after the function has returned", v.Name()),
		Changes: []code.Change{s.After(assign, fmt.Sprintf("defer %s.Put(%s)", s.Source(sel.X), v.Name()))}}}
}

// byCallers gives back, in the callers of a function that hands out what it takes from a pool, what they got.
func (s *site) byCallers(pool ast.Expr) []code.Edit {
	decl := code.Declaration(s.Cur)
	obj, ok := s.NamedBy(pool).(*types.Var)
	if decl == nil || !ok || obj.Parent() != s.Pkg.Types.Scope() || len(decl.Body.List) != 1 {
		return nil
	}
	getter := s.Info().Defs[decl.Name]
	e := code.Edit{Text: fmt.Sprintf("put back what %s hands out, at the end of the functions that ask for it", decl.Name.Name),
		Open: fmt.Sprintf("nothing may use what %s hands out after its caller has returned", decl.Name.Name)}
	for _, f := range s.Package {
		var changes []code.Change
		for c := range f.Root.Preorder((*ast.CallExpr)(nil)) {
			if typeutil.Callee(f.Info(), c.Node().(*ast.CallExpr)) != getter {
				continue
			}
			change, ok := (&site{&code.Site{File: f, Cur: c}}).deferred(pool, s)
			if !ok {
				return nil
			}
			changes = append(changes, change)
		}
		if f.Name == s.Name {
			e.Changes = changes
		} else if len(changes) > 0 {
			e.Also = append(e.Also, code.Part{File: f.Name, Changes: changes})
		}
	}
	if len(e.Changes)+len(e.Also) == 0 {
		return nil
	}
	return []code.Edit{e}
}

// deferred is the statement behind a call that puts its result back into a pool when the function ends; not ok
// where the function hands it on, or does not keep it in a variable.
func (s *site) deferred(pool ast.Expr, of *site) (code.Change, bool) {
	v, stmt := s.Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || stmt.Parent().Node() != ast.Node(body) || s.Lookup(of.Source(pool), stmt.Node().Pos()) != of.NamedBy(pool) {
		return code.Change{}, false
	}
	for _, u := range s.Uses(v, fn)[1:] {
		if u.ParentEdgeKind() == edge.AssignStmt_Lhs || u.ParentEdgeKind() == edge.ReturnStmt_Results || !code.Within(u, fn) {
			return code.Change{}, false
		}
	}
	return s.After(stmt.Node(), fmt.Sprintf("defer %s.Put(%s)", of.Source(pool), v.Name())), true
}

// putsTo reports whether the package puts anything into a pool of that name.
func (s *site) putsTo(pool ast.Expr) bool {
	obj := s.NamedBy(pool)
	for _, f := range s.Package {
		for c := range f.Root.Preorder((*ast.CallExpr)(nil)) {
			call := c.Node().(*ast.CallExpr)
			if f.Callee(call) != "(*sync.Pool).Put" {
				continue
			}
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || obj == nil || f.NamedBy(sel.X) == obj {
				return true
			}
		}
	}
	return false
}
