package text

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// TypeName asks reflect for the name of a value's type, which is there, where fmt would make a copy of it.
func TypeName(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	if !ok || s.Callee(call) != "fmt.Sprintf" || len(call.Args) != 2 || call.Ellipsis.IsValid() {
		return nil
	}
	format, constant := s.ConstString(call.Args[0])
	pkg, imports, ok := s.Use("reflect", call.Pos())
	x := call.Args[1]
	if !ok || !constant || format != "%T" || s.Info().Types[x].IsNil() {
		return nil
	}
	name := fmt.Sprintf("%s.TypeOf(%s).String()", pkg, s.Source(x))
	var changes []code.Change
	switch t := types.Unalias(s.Info().TypeOf(x)).(type) {
	case *types.TypeParam:
		return nil
	default:
		changes = []code.Change{s.Replace(call, name)}
		if types.IsInterface(t) {
			changes = s.unlessNil(x, name)
		}
	}
	if changes == nil {
		return nil
	}
	return []code.Edit{{Text: "ask reflect for the name of the type", Imports: imports, Changes: changes}}
}

// unlessNil puts the name of a value's type in place of the site, and what fmt prints where the value is nil: nil for a
// site that is more than returned or assigned to a variable.
func (s *site) unlessNil(x ast.Expr, name string) []code.Change {
	const none = `"<nil>"`
	stmt, listed := code.Statement(s.Cur)
	if !listed || !s.Pure(x) {
		return nil
	}
	switch n := stmt.Node().(type) {
	case *ast.ReturnStmt:
		if len(n.Results) == 1 && n.Results[0] == s.Cur.Node() {
			return []code.Change{s.Before(n, fmt.Sprintf("if %s == nil {", s.Source(x)), "\treturn "+none, "}"), s.Replace(s.Cur.Node(), name)}
		}
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && n.Rhs[0] == s.Cur.Node() && n.Tok != token.ADD_ASSIGN && s.Local(n.Lhs[0]) != nil && s.Local(n.Lhs[0]) != s.Local(x) {
			return []code.Change{s.Replace(s.Cur.Node(), none),
				s.After(n, fmt.Sprintf("if %s != nil {", s.Source(x)), fmt.Sprintf("\t%s = %s", s.Source(n.Lhs[0]), name), "}")}
		}
	}
	return nil
}
