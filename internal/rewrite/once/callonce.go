package once

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// CallOnce keeps what a function of the package makes of constants in a variable of the package, where it is
// only asked afterwards.
func CallOnce(on *code.Site) []code.Edit {
	s := &site{on}
	call, ok := s.Cur.Node().(*ast.CallExpr)
	fn := code.Declaration(s.Cur)
	if !ok || fn == nil || len(call.Args) == 0 || call.Ellipsis.IsValid() || fn.Recv == nil && fn.Name.Name == "init" {
		return nil
	}
	callee, ok := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || callee.Pkg() != s.Pkg.Types || callee.Signature().Recv() != nil || callee.Signature().Results().Len() != 1 ||
		callee.Signature().TypeParams().Len() > 0 || s.Info().Defs[fn.Name] == types.Object(callee) {
		return nil
	}
	if s.asksAnew(callee, map[*types.Func]bool{}) {
		return nil
	}
	for _, a := range call.Args {
		if s.Info().Types[a].Value == nil || s.NamesLocals(a) {
			return nil
		}
	}
	t := s.Info().TypeOf(call)
	if types.Identical(t, types.Universe.Lookup("error").Type()) || !code.IsString(t) && !s.onlyCalled() && !s.onlyRead(false) {
		return nil
	}
	if _, isFunc := t.Underlying().(*types.Signature); isFunc {
		return nil
	}
	open := fmt.Sprintf("%s must make the same each time", callee.Name())
	if !code.IsString(t) {
		open += ", and nothing may change what it has made"
	}
	return []code.Edit{s.once(fn, call, "made", open)}
}
