package text

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// AppendOnto lets a function that appends to its first argument append to what its result is appended to:
// append(x, f(nil, …)...) becomes f(x, …).
func AppendOnto(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Cur.ParentEdgeKind() != edge.CallExpr_Args || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return nil
	}
	outer := s.Cur.Parent().Node().(*ast.CallExpr)
	fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || s.Builtin(outer, "append") == nil || !outer.Ellipsis.IsValid() || outer.Args[1] != ast.Expr(call) || !s.EmptySlice(call.Args[0]) {
		return nil
	}
	sig := fn.Signature()
	dst := s.Info().TypeOf(outer.Args[0])
	if sig.Variadic() && sig.Params().Len() == 1 || sig.Results().Len() != 1 || !types.Identical(sig.Params().At(0).Type(), dst) ||
		!types.Identical(sig.Results().At(0).Type(), dst) {
		return nil
	}
	e := code.Edit{Text: fmt.Sprintf("let %s append to `%s` itself", fn.Name(), code.Brief(s.Source(outer.Args[0])))}
	if !s.onlyAppends(fn, 0) {
		if !strings.HasPrefix(strings.ToLower(fn.Name()), "append") {
			return nil
		}
		e.Open = fmt.Sprintf("%s must only append to its first argument", fn.Name())
	}
	to := s.Offset(call.Args[0].End())
	e.Changes = []code.Change{s.Replace(outer, string(s.Text[s.Offset(call.Pos()):s.Offset(call.Args[0].Pos())])+
		s.Source(outer.Args[0])+string(s.Text[to:s.Offset(call.End())]))}
	return []code.Edit{e}
}

// onlyAppends reports whether a function does nothing with its first parameter but append to it, and returns
// what that gives: functions of the standard library that are named for it, and those of the package whose
// source shows it.
func (s *site) onlyAppends(fn *types.Func, depth int) bool {
	const deepest = 3
	if fn.Pkg() == nil || depth > deepest {
		return false
	}
	if first, _, _ := strings.Cut(fn.Pkg().Path(), "/"); !strings.Contains(first, ".") && fn.Pkg() != s.Pkg.Types {
		return strings.HasPrefix(fn.Name(), "Append")
	}
	f, decl := s.FuncOf(fn)
	if decl == nil || decl.Body == nil || len(decl.Type.Params.List) == 0 || len(decl.Type.Params.List[0].Names) == 0 {
		return false
	}
	if decl.Type.Results != nil && len(decl.Type.Results.List[0].Names) > 0 {
		return false
	}
	v, _ := s.Info().Defs[decl.Type.Params.List[0].Names[0]].(*types.Var)
	c, ok := f.Root.FindNode(decl)
	if v == nil || !ok {
		return false
	}
	in := &site{&code.Site{File: f, Cur: c}}
	for _, u := range f.Uses(v, c) {
		if u.Node().Pos() != v.Pos() && (!code.Within(u, c) || !in.passesOn(u, v, depth)) {
			return false
		}
	}
	for c := range c.Preorder((*ast.ReturnStmt)(nil)) {
		if r := c.Node().(*ast.ReturnStmt); code.Within(c, in.Cur) && (len(r.Results) != 1 || !in.begins(r.Results[0], v)) {
			return false
		}
	}
	return true
}

// passesOn reports whether a use of a slice is the first argument of what appends to it, whose result is
// assigned to it, returned, or appended to in turn; or the slice itself, returned or assigned to.
func (s *site) passesOn(u inspector.Cursor, v *types.Var, depth int) bool {
	for u.ParentEdgeKind() == edge.CallExpr_Args {
		call := u.Parent().Node().(*ast.CallExpr)
		if call.Args[0] != u.Node() {
			return false
		}
		if s.Builtin(call, "append") == nil {
			fn, ok := typeutil.Callee(s.Info(), call).(*types.Func)
			if !ok || !s.onlyAppends(fn, depth+1) {
				return false
			}
		}
		u = u.Parent()
	}
	switch u.ParentEdgeKind() {
	case edge.ReturnStmt_Results:
		return true
	case edge.AssignStmt_Lhs:
		n := u.Parent().Node().(*ast.AssignStmt)
		return len(n.Lhs) == 1 && s.begins(n.Rhs[0], v)
	case edge.AssignStmt_Rhs:
		n := u.Parent().Node().(*ast.AssignStmt)
		return len(n.Lhs) == 1 && s.Local(n.Lhs[0]) == v
	}
	return false
}

// begins reports whether an expression is a slice, or what calls that take it first make of it.
func (s *site) begins(e ast.Expr, v *types.Var) bool {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return s.Local(e) == v
		}
		if len(call.Args) == 0 {
			return false
		}
		e = call.Args[0]
	}
}
