package idiom

import (
	"go/ast"
	"go/types"
	"slices"
)

// holder is the variable that has what the expression makes: the one that the expression declares, or is the value of.
func (p Place) holder() types.Object {
	if id, ok := p.Expr.(*ast.Ident); ok {
		return p.Info.Defs[id]
	}
	return p.Defined()
}

// receiver is the receiver of the method around the expression, which has it by its address; nil for another function.
func (p Place) receiver() types.Object {
	if len(p.Path) == 0 {
		return nil
	}
	fn, ok := p.Path[0].(*ast.FuncDecl)
	if !ok || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
		return nil
	}
	r := p.Info.Defs[fn.Recv.List[0].Names[0]]
	if r == nil {
		return nil
	}
	if _, pointer := r.Type().(*types.Pointer); !pointer {
		return nil
	}
	return r
}

// Scratch names the method that is handed an array of the function, or a slice of it: of an interface that the receiver
// has, or of the receiver, which has interfaces. Such an array could be a field of the receiver, which may have to grow, if it
// dies in the function, which does not call itself. It is "" for others.
func (p Place) Scratch() (taker string) {
	fn, v, receiver := p.Body(), p.holder(), p.receiver()
	if fn == nil || v == nil || receiver == nil || !p.isArray(v.Type()) || p.recurses(fn) {
		return ""
	}
	ok := true
	p.uses(fn, v, func(id *ast.Ident, path []ast.Node) {
		if slices.ContainsFunc(path, func(n ast.Node) bool { _, literal := n.(*ast.FuncLit); return literal }) {
			ok = false
			return
		}
		e, around := ast.Expr(id), path[len(path)-1]
		if s, slice := around.(*ast.SliceExpr); slice && s.X == e && len(path) > 1 {
			e, around = s, path[len(path)-2]
		}
		if c, call := around.(*ast.CallExpr); call && slices.Contains(c.Args, e) {
			if to := p.takes(c, receiver); to != "" {
				taker = to
			}
		}
	})
	if !ok {
		return ""
	}
	return taker
}

// isArray reports whether the expression is an array, or makes a slice.
func (p Place) isArray(t types.Type) bool {
	if _, array := t.Underlying().(*types.Array); array {
		return true
	}
	c, ok := p.Expr.(*ast.CallExpr)
	_, slice := t.Underlying().(*types.Slice)
	return ok && slice && p.isBuiltin(c, "make")
}

func (p Place) isBuiltin(c *ast.CallExpr, name string) bool {
	id, ok := ast.Unparen(c.Fun).(*ast.Ident)
	return ok && p.Info.Uses[id] == types.Universe.Lookup(name)
}

// takes names the callee of a call: a method of an interface in a field of the receiver, or of a receiver that has such
// fields, or a function of package io that is handed such an interface; "" for other calls.
func (p Place) takes(c *ast.CallExpr, receiver types.Object) string {
	switch callee := p.callee(c); callee {
	case "io.ReadFull", "io.ReadAtLeast", "io.CopyBuffer":
		if slices.ContainsFunc(c.Args, func(a ast.Expr) bool {
			return types.IsInterface(p.Info.TypeOf(a)) && p.root(a) == receiver
		}) {
			return callee
		}
		return ""
	}
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || p.root(sel.X) != receiver {
		return ""
	}
	s := p.Info.Selections[sel]
	if s == nil || s.Kind() != types.MethodVal || !types.IsInterface(s.Recv()) && !hasInterface(s.Recv()) {
		return ""
	}
	return types.ExprString(sel)
}

// hasInterface reports whether a struct, or the one that a pointer leads to, has a field that is an interface.
func hasInterface(t types.Type) bool {
	if ptr, ok := t.Underlying().(*types.Pointer); ok {
		t = ptr.Elem()
	}
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range st.Fields() {
		if types.IsInterface(f.Type()) {
			return true
		}
	}
	return false
}
