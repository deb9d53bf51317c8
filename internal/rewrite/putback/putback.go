// Package putback has the edit that puts an object back into the sync.Pool that it was taken from, where nothing else does.
package putback

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
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
	if ok && got.ParentEdgeKind() == edge.ReturnStmt_Results {
		return s.byCallers(sel.X)
	}
	if !ok || got.ParentEdgeKind() != edge.AssignStmt_Rhs || !s.Pure(sel.X) {
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
	back := s.backTo(sel.X)
	if s.puts(fn, s.NamedBy(sel.X)) || back.anywhere && s.goesOn(v, fn, back) {
		return nil
	}
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

// byCallers gives back, in the callers of a function that hands out what it takes from a pool, what they got and
// nobody gives back, by the function that others use for it if there is one.
func (s *site) byCallers(pool ast.Expr) []code.Edit {
	decl := code.Declaration(s.Cur)
	obj, ok := s.NamedBy(pool).(*types.Var)
	if decl == nil || !ok || obj.Parent() != s.Pkg.Types.Scope() || len(decl.Body.List) != 1 {
		return nil
	}
	getter, back := s.Info().Defs[decl.Name], s.backTo(pool)
	e := code.Edit{Text: fmt.Sprintf("put back what %s hands out, at the end of the functions that ask for it", decl.Name.Name),
		Open: fmt.Sprintf("nothing may use what %s hands out after its caller has returned", decl.Name.Name)}
	if back.anywhere {
		e.Text = fmt.Sprintf("put back what %s hands out, at the end of the functions that do not", decl.Name.Name)
	}
	for _, f := range s.Package {
		var changes []code.Change
		for c := range f.Root.Preorder((*ast.CallExpr)(nil)) {
			if typeutil.Callee(f.Info(), c.Node().(*ast.CallExpr)) != getter {
				continue
			}
			change, ok := (&site{&code.Site{File: f, Cur: c}}).deferred(back)
			if !ok && !back.anywhere {
				return nil
			}
			if ok {
				changes = append(changes, change)
			}
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

// deferred is the statement behind a call that puts its result back when the function ends; not ok where the function
// puts it back or hands it on, or does not keep it in a variable.
func (s *site) deferred(back back) (code.Change, bool) {
	v, stmt := s.Defined()
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil || stmt.Parent().Node() != ast.Node(body) || s.puts(fn, back.pool) {
		return code.Change{}, false
	}
	name, is := back.name, types.Object(back.by)
	if back.by == nil {
		is = back.pool
	}
	if s.Lookup(name, stmt.Node().Pos()) != is || back.anywhere && s.goesOn(v, fn, back) {
		return code.Change{}, false
	}
	for _, u := range s.Uses(v, fn)[1:] {
		if u.ParentEdgeKind() == edge.AssignStmt_Lhs || u.ParentEdgeKind() == edge.ReturnStmt_Results || !code.Within(u, fn) {
			return code.Change{}, false
		}
	}
	if back.by == nil {
		name += ".Put"
	}
	return s.After(stmt.Node(), fmt.Sprintf("defer %s(%s)", name, v.Name())), true
}

// back is how the objects of a pool get back into it.
type back struct {
	pool     types.Object
	name     string      // of the pool, or of the function by
	by       *types.Func // that puts its only argument into the pool; nil if there is none, or more than one
	anywhere bool        // the package puts something into the pool
}

func (s *site) backTo(pool ast.Expr) back {
	out := back{pool: s.NamedBy(pool), name: s.Source(pool)}
	var by []*types.Func
	for _, f := range s.Package {
		in := &site{&code.Site{File: f}}
		out.anywhere = out.anywhere || in.puts(f.Root, out.pool)
		for c := range f.Root.Preorder((*ast.FuncDecl)(nil)) {
			decl := c.Node().(*ast.FuncDecl)
			fn, _ := f.Info().Defs[decl.Name].(*types.Func)
			if fn == nil || decl.Recv != nil || fn.Signature().Params().Len() != 1 || fn.Signature().Results().Len() > 0 || code.HasTypeParams(decl) {
				continue
			}
			for _, u := range f.Uses(fn.Signature().Params().At(0), c) {
				if u.ParentEdgeKind() == edge.CallExpr_Args && in.isPut(u.Parent().Node().(*ast.CallExpr), out.pool) && !slices.Contains(by, fn) {
					by = append(by, fn)
				}
			}
		}
	}
	if len(by) == 1 {
		out.by, out.name = by[0], by[0].Name()
	}
	return out
}

// goesOn reports whether a function puts a variable back by another function, or hands it on to where that may happen.
func (s *site) goesOn(v *types.Var, fn inspector.Cursor, back back) bool {
	for _, u := range s.Uses(v, fn) {
		at := u
		if u.ParentEdgeKind() == edge.SelectorExpr_X && u.Parent().ParentEdgeKind() == edge.CallExpr_Fun {
			at = u.Parent()
		}
		switch at.ParentEdgeKind() {
		case edge.CallExpr_Args, edge.CallExpr_Fun:
			call, _ := typeutil.Callee(s.Info(), at.Parent().Node().(*ast.CallExpr)).(*types.Func)
			if call == nil {
				return true
			}
			if call.Pkg() != s.Pkg.Types {
				continue
			}
			in, decl := s.FuncOf(call)
			if decl == nil {
				return true
			}
			if c, ok := in.Root.FindNode(decl); !ok || (&site{&code.Site{File: in}}).puts(c, back.pool) {
				return true
			}
		case edge.AssignStmt_Rhs, edge.ValueSpec_Values, edge.CompositeLit_Elts, edge.KeyValueExpr_Value, edge.SendStmt_Value, edge.UnaryExpr_X:
			return true
		}
	}
	return false
}

// puts reports whether code puts anything into a pool.
func (s *site) puts(in inspector.Cursor, pool types.Object) bool {
	for c := range in.Preorder((*ast.CallExpr)(nil)) {
		if s.isPut(c.Node().(*ast.CallExpr), pool) {
			return true
		}
	}
	return false
}

// isPut reports whether a call puts something into a pool, or into one that cannot be told from it.
func (s *site) isPut(call *ast.CallExpr, pool types.Object) bool {
	if s.Callee(call) != "(*sync.Pool).Put" {
		return false
	}
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	return !ok || pool == nil || s.NamedBy(sel.X) == pool
}
