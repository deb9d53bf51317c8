package suited

import (
	"go/ast"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
)

// chained reports whether a method is called on the result at once, and nothing else is done with it.
func chained(p idiom.Place) bool { return nextCall(p) != nil }

// nextCall is the call of a method on the place's result; nil for none.
func nextCall(p idiom.Place) *ast.CallExpr {
	if len(p.Path) < 2 {
		return nil
	}
	sel, ok := p.Path[len(p.Path)-1].(*ast.SelectorExpr)
	next, isCall := p.Path[len(p.Path)-2].(*ast.CallExpr)
	if !ok || !isCall || sel.X != p.Expr || next.Fun != ast.Expr(sel) {
		return nil
	}
	return next
}

// getsConstant reports whether the values of a query are asked for one constant key.
func getsConstant(p idiom.Place) bool {
	next := nextCall(p)
	return next != nil && len(next.Args) == 1 && p.Info.Types[next.Args[0]].Value != nil
}

// asserted reports whether the type of a result is asked at once, so that nothing keeps the interface.
func asserted(p idiom.Place) bool {
	if len(p.Path) == 0 {
		return false
	}
	_, ok := p.Path[len(p.Path)-1].(*ast.TypeAssertExpr)
	return ok
}

// ofRangedKey reports whether a map of package reflect is asked for the key of a loop over its keys as they come.
func ofRangedKey(p idiom.Place) bool {
	c, a := call(p), argument(p, 0)
	if a == nil {
		return false
	}
	of, isSel := c.Fun.(*ast.SelectorExpr)
	key := p.Variable(a)
	for _, n := range p.Path {
		loop, ok := n.(*ast.RangeStmt)
		if !ok || !isSel || key == nil || loop.Value == nil || p.Variable(loop.Value) != key {
			continue
		}
		keys, ok := ast.Unparen(loop.X).(*ast.CallExpr)
		if !ok {
			continue
		}
		sel, ok := keys.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "MapKeys" && p.Variable(sel.X) != nil && p.Variable(sel.X) == p.Variable(of.X)
	}
	return false
}

// knownKeys reports whether a map that is decoded into is a local variable of which only constant keys are asked.
func knownKeys(p idiom.Place) bool {
	address, ok := argument(p, 1).(*ast.UnaryExpr)
	if !ok || p.Body() == nil {
		return false
	}
	v := local(p.Variable(address.X))
	if v == nil {
		return false
	}
	m, ok := v.Type().Underlying().(*types.Map)
	if !ok || !types.IsInterface(m.Elem()) {
		return false
	}
	asked := false
	return eachUse(p, v, func(path []ast.Node) bool {
		switch n := path[len(path)-1].(type) {
		case *ast.IndexExpr:
			asked = true
			return p.Info.Types[n.Index].Value != nil
		case *ast.UnaryExpr:
			return n == address
		}
		return false
	}) && asked
}
