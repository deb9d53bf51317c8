package source

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// through is the argument of a call that its first result is, with something appended to it or not;
// nil where the call makes the result, or that is not known.
func (l *Line) through(call *ast.CallExpr) ast.Expr {
	if l.builtin(call) == "append" || Appends(l.callee(call)) {
		if len(call.Args) > 0 {
			return call.Args[0]
		}
		return nil
	}
	var id *ast.Ident
	args := call.Args
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
		if l.Info().Selections[f] != nil {
			args = append([]ast.Expr{f.X}, args...)
		}
	default:
		return nil
	}
	obj, ok := l.Info().Uses[id].(*types.Func)
	if !ok || l.program.funcs[obj.Origin()] == nil {
		return nil
	}
	if i := passes(l.program.funcs[obj.Origin()], 0); i >= 0 && i < len(args) {
		return args[i]
	}
	return nil
}

// passes is the number of the one parameter that a function returns as its first result on all ways,
// appended to or not; -1 for none.
func passes(fn *ssa.Function, depth int) int {
	const most = 3
	found := -1
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) == 0 {
			continue
		}
		i := grownFrom(fn, ret.Results[0], map[ssa.Value]bool{}, most-depth)
		if i == -1 || found >= 0 && i >= 0 && found != i {
			return -1
		}
		if i >= 0 {
			found = i
		}
	}
	return found
}

// cycle means that a value leads back to itself only.
const cycle = -2

// grownFrom is the number of the parameter that a value was grown from; -1 for another origin.
func grownFrom(fn *ssa.Function, v ssa.Value, seen map[ssa.Value]bool, calls int) int {
	if seen[v] {
		return cycle
	}
	seen[v] = true
	switch v := v.(type) {
	case *ssa.Parameter:
		for i, p := range fn.Params {
			if p == v {
				return i
			}
		}
	case *ssa.Slice:
		return grownFrom(fn, v.X, seen, calls)
	case *ssa.ChangeType:
		return grownFrom(fn, v.X, seen, calls)
	case *ssa.Phi:
		found := cycle
		for _, e := range v.Edges {
			switch i := grownFrom(fn, e, seen, calls); {
			case i == -1, i >= 0 && found >= 0 && i != found:
				return -1
			case i >= 0:
				found = i
			}
		}
		return found
	case *ssa.Call:
		return grownByCall(fn, v, seen, calls)
	}
	return -1
}

// grownByCall is grownFrom for the result of a call.
func grownByCall(fn *ssa.Function, v *ssa.Call, seen map[ssa.Value]bool, calls int) int {
	c := v.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok && b.Name() == "append" {
		return grownFrom(fn, c.Args[0], seen, calls)
	}
	callee := c.StaticCallee()
	if callee == nil || calls == 0 {
		return -1
	}
	if obj, ok := callee.Object().(*types.Func); ok && Appends(flow.Spelling(obj)) && len(c.Args) > 0 {
		return grownFrom(fn, c.Args[0], seen, calls)
	}
	if callee.Blocks == nil {
		return -1
	}
	if i := passes(callee, 3-calls+1); i >= 0 && i < len(c.Args) {
		return grownFrom(fn, c.Args[i], seen, calls-1)
	}
	return -1
}
