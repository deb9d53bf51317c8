package source

import (
	"go/ast"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// through is the argument of a call that its first result is, with something appended to it or not;
// nil where the call makes the result, or that is not known.
func (l *Line) through(call *ast.CallExpr) ast.Expr {
	if l.builtin(call) == "append" || flow.Appends(l.callee(call)) {
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
	if i := flow.Returned(l.program.funcs[obj.Origin()]); i >= 0 && i < len(args) {
		return args[i]
	}
	return nil
}
