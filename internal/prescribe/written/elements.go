package written

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// elementCopied is the list of an ElementCopied loop; "" for others.
func elementCopied(p idiom.Place) string {
	loop := ElementCopied(p)
	if loop == nil {
		return ""
	}
	return types.ExprString(loop.X)
}

// ElementCopied is the loop over a slice or an array whose variable of elements is on the heap, as its address is taken or its
// array sliced; nil for others. Nothing in sight sets the variable or a part of it.
func ElementCopied(p idiom.Place) *ast.RangeStmt {
	id, ok := p.Expr.(*ast.Ident)
	if !ok || p.Info.Defs[id] == nil || len(p.Path) == 0 {
		return nil
	}
	loop, ok := p.Path[len(p.Path)-1].(*ast.RangeStmt)
	if !ok || loop.Value != ast.Expr(id) || loop.Tok != token.DEFINE || !hasElements(p, loop.X) {
		return nil
	}
	v := p.Info.Defs[id]
	taken, changed := false, false
	within := func(e ast.Expr) bool { return isPartOf(p, e, v) }
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.UnaryExpr:
			taken = taken || n.Op == token.AND && within(n.X)
		case *ast.SliceExpr:
			_, array := p.Info.TypeOf(n.X).Underlying().(*types.Array)
			taken = taken || array && within(n.X)
		case *ast.AssignStmt:
			changed = changed || slices.ContainsFunc(n.Lhs, within)
		case *ast.IncDecStmt:
			changed = changed || within(n.X)
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt: // it may be used after the turn
			changed = changed || slices.Contains(names(p, n), v)
		}
		return !changed
	})
	if !taken || changed {
		return nil
	}
	return loop
}

// hasElements reports whether an expression is a slice, or a pointer to an array, whose elements have addresses.
func hasElements(p idiom.Place, e ast.Expr) bool {
	switch t := p.Info.TypeOf(e).Underlying().(type) {
	case *types.Slice:
		return isPlace(p, e)
	case *types.Pointer:
		_, array := t.Elem().Underlying().(*types.Array)
		return array && isPlace(p, e)
	}
	return false
}

// isPartOf reports whether an expression is a variable, or lies in its memory: no pointer or slice leads to it.
func isPartOf(p idiom.Place, e ast.Expr, v types.Object) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		_, array := p.Info.TypeOf(e.X).Underlying().(*types.Array)
		return array && isPartOf(p, e.X, v)
	case *ast.SelectorExpr:
		s := p.Info.Selections[e]
		return s != nil && s.Kind() == types.FieldVal && !s.Indirect() && isPartOf(p, e.X, v)
	case *ast.Ident:
		return p.Variable(e) == v
	}
	return false
}

// names are the variables that code names.
func names(p idiom.Place, n ast.Node) (all []types.Object) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && p.Info.Uses[id] != nil {
			all = append(all, p.Info.Uses[id])
		}
		return true
	})
	return all
}

// sliceOfCopy is what to do where a method without other arguments is called whose receiver is an array, and that returns a
// slice of all of it: of the copy that it gets. Where its code was not read, its types and the object on its line tell.
func sliceOfCopy(p idiom.Place, callee *ssa.Function) string {
	c, ok := p.Expr.(*ast.CallExpr)
	if !ok || len(c.Args) > 0 {
		return ""
	}
	sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || p.Info.Selections[sel] == nil || !isPlace(p, sel.X) {
		return ""
	}
	method, ok := p.Info.Selections[sel].Obj().(*types.Func)
	if !ok || !givesSlice(method.Signature()) || callee != nil && !slicesReceiver(callee) {
		return ""
	}
	x := types.ExprString(sel.X)
	return "slice the array itself, as `" + x + "[:]`, if what gets it neither changes nor keeps it: " + sel.Sel.Name + " returns a slice of its copy of it, which is on the heap"
}

// givesSlice reports whether a method of an array returns a slice of the array's elements, and nothing else.
func givesSlice(sig *types.Signature) bool {
	if sig.Recv() == nil || sig.Results().Len() != 1 {
		return false
	}
	array, ok := sig.Recv().Type().Underlying().(*types.Array)
	slice, is := sig.Results().At(0).Type().Underlying().(*types.Slice)
	return ok && is && types.Identical(array.Elem(), slice.Elem())
}

// slicesReceiver reports whether all that a method does is to return a slice of its receiver, which is an array.
func slicesReceiver(fn *ssa.Function) bool {
	if fn.Signature.Recv() == nil || len(fn.Params) != 1 || len(fn.Blocks) != 1 {
		return false
	}
	if _, array := fn.Params[0].Type().Underlying().(*types.Array); !array {
		return false
	}
	body := fn.Blocks[0].Instrs
	ret, ok := body[len(body)-1].(*ssa.Return)
	if !ok || len(ret.Results) != 1 {
		return false
	}
	s, ok := ret.Results[0].(*ssa.Slice)
	if !ok || s.Low != nil || s.High != nil || s.Max != nil {
		return false
	}
	copied, ok := s.X.(*ssa.Alloc)
	if !ok {
		return false
	}
	return slices.ContainsFunc(*copied.Referrers(), func(in ssa.Instruction) bool {
		st, ok := in.(*ssa.Store)
		return ok && st.Addr == ssa.Value(copied) && st.Val == ssa.Value(fn.Params[0])
	})
}
