package once

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// HandedOnce moves a slice of constants that a function or method is handed into a variable of the package. Write
// must not change or keep what it is handed: io.Writer says so.
func HandedOnce(on *code.Site) []code.Edit {
	s := &site{on}
	if s.Cur.ParentEdgeKind() != edge.CallExpr_Args {
		return nil
	}
	e, base := s.Cur.Node().(ast.Expr), s.constantSlice()
	fn := code.Declaration(s.Cur)
	if base == "" || fn == nil || fn.Recv == nil && fn.Name.Name == "init" || code.HasTypeParams(fn) {
		return nil
	}
	callee, ok := typeutil.Callee(s.Info(), s.Cur.Parent().Node().(*ast.CallExpr)).(*types.Func)
	if !ok {
		return nil
	}
	open := fmt.Sprintf("%s must neither change nor keep what it is handed", callee.Name())
	if sig := callee.Signature(); callee.Name() == "Write" && sig.Recv() != nil && sig.Params().Len() == 1 && sig.Results().Len() == 2 {
		open = ""
		if first, _, _ := strings.Cut(callee.Pkg().Path(), "/"); strings.Contains(first, ".") || callee.Pkg() == s.Pkg.Types {
			open = fmt.Sprintf("%s must not change what it is handed, as io.Writer demands", callee.Name())
		}
	}
	return []code.Edit{s.once(fn, e, base, open)}
}

// constantSlice says what the site makes, if that is a slice of constants; "" for others.
func (s *site) constantSlice() string {
	switch e := s.Cur.Node().(type) {
	case *ast.CompositeLit:
		_, isSlice := s.Info().TypeOf(e).Underlying().(*types.Slice)
		if isSlice && len(e.Elts) > 0 && e.Type != nil && !s.NamesLocals(e.Type) && s.TypeText(s.Info().TypeOf(e)) != "" && s.constants(e) {
			return "table"
		}
	case *ast.CallExpr:
		if len(e.Args) != 1 || !s.Info().Types[e.Fun].IsType() || !types.Identical(s.Info().TypeOf(e), types.NewSlice(types.Typ[types.Byte])) {
			return ""
		}
		if text, ok := s.ConstString(e.Args[0]); ok && text != "" && !s.NamesLocals(e.Args[0]) {
			return "bytes"
		}
	}
	return ""
}
