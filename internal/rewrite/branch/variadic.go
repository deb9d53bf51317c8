package branch

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// ArgumentsInOne makes the slice of a variadic call through an interface or a function value once before a loop and fills it
// in each turn. In other calls the compiler sees whether the slice is kept, and else has it on the stack.
func ArgumentsInOne(on *code.Site) []code.Edit {
	s := &site{on}
	call, args, elem := s.variadic()
	loop, in := s.LoopAround()
	stmt, listed := code.Statement(s.Cur)
	if call == nil || !in || !listed || !s.first(stmt.Node(), call) {
		return nil
	}
	if at, own := code.Statement(loop); !own || at != loop {
		return nil // it has a label
	}
	typ := s.TypeText(elem)
	if typ == "" || slices.ContainsFunc(args, func(a ast.Expr) bool {
		return !s.Pure(a) || s.ThroughPointer(a) || s.DeclaredAfter(a, stmt.Node().Pos())
	}) {
		return nil
	}
	name := s.Fresh("args", call.Pos())
	var places, values []string
	for i, a := range args {
		places, values = append(places, fmt.Sprintf("%s[%d]", name, i)), append(values, s.Source(a))
	}
	e := code.Edit{Text: fmt.Sprintf("hand the arguments of `%s` over in one slice for all turns of the loop", code.Brief(s.Source(call.Fun))),
		Changes: []code.Change{s.Before(loop.Node(), fmt.Sprintf("%s := make([]%s, %d)", name, typ, len(args))),
			s.Before(stmt.Node(), strings.Join(places, ", ")+" = "+strings.Join(values, ", ")),
			{From: s.Offset(args[0].Pos()), To: s.Offset(args[len(args)-1].End()), Text: name + "..."}}}
	if !s.Place.Dies {
		e.Open = fmt.Sprintf("`%s` must not keep the slice of its arguments", code.Brief(s.Source(call.Fun)))
	}
	return []code.Edit{e}
}

// variadic returns the call that the site is, what it puts into the slice of a variadic parameter, and the type of its
// elements; nil for other calls.
func (s *site) variadic() (*ast.CallExpr, []ast.Expr, types.Type) {
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() || s.Info().Types[call.Fun].IsType() || s.Info().Types[call.Fun].IsBuiltin() || s.Commented(call) {
		return nil, nil, nil
	}
	sig, ok := s.Info().TypeOf(call.Fun).Underlying().(*types.Signature)
	if !ok || !sig.Variadic() || len(call.Args) < sig.Params().Len() || typeutil.StaticCallee(s.Info(), call) != nil {
		return nil, nil, nil
	}
	fixed := sig.Params().Len() - 1
	last, ok := sig.Params().At(fixed).Type().(*types.Slice)
	if !ok {
		return nil, nil, nil
	}
	return call, call.Args[fixed:], last.Elem()
}

// first reports whether a statement calls no other function, and evaluates a call before all else, once in a turn.
func (s *site) first(stmt ast.Node, call *ast.CallExpr) bool {
	at := stmt
	switch n := stmt.(type) {
	case *ast.ExprStmt, *ast.AssignStmt, *ast.ReturnStmt:
	case *ast.IfStmt:
		if at = n.Cond; n.Init != nil {
			return false
		}
	default:
		return false
	}
	only, inside := true, false
	ast.Inspect(at, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			only = false
		case *ast.CallExpr:
			inside = inside || n == call
			only = only && (n == call || s.Info().Types[n.Fun].IsType() || s.Info().Types[n.Fun].IsBuiltin())
		}
		return only
	})
	return only && inside
}
