package text

import (
	"fmt"
	"go/ast"
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
	e := code.Edit{Text: "ask reflect for the name of the type", Imports: imports,
		Changes: []code.Change{s.Replace(call, fmt.Sprintf("%s.TypeOf(%s).String()", pkg, s.Source(x)))}}
	if types.IsInterface(s.Info().TypeOf(x)) {
		e.Open = fmt.Sprintf("`%s` must not be nil", s.Source(x))
	}
	return []code.Edit{e}
}
