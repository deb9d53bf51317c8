package owner

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// ArgumentReused lets a function append to the array of a slice that it is given, where it begins with none. The
// site is the statement that drops the slice, or one that makes it grow.
func ArgumentReused(on *code.Site) []code.Edit {
	s := &site{on}
	var v *types.Var
	switch n := s.Cur.Node().(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 {
			v = s.Local(n.Lhs[0])
		}
	default:
		return nil
	}
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return nil
	}
	slice, ok := v.Type().Underlying().(*types.Slice)
	params, _ := code.Signature(fn)
	if !ok || params == nil || v.Pos() < params.Pos() || v.Pos() >= params.End() {
		return nil
	}
	var out []code.Edit
	for c := range fn.Preorder((*ast.AssignStmt)(nil)) {
		n := c.Node().(*ast.AssignStmt)
		if n.Tok != token.ASSIGN || len(n.Lhs) != 1 || s.Local(n.Lhs[0]) != v || !s.noSlice(s.File, n.Rhs[0]) || !code.Within(c, fn) {
			continue
		}
		name := v.Name()
		lines := fmt.Sprintf("%s = %[1]s[:0]", name)
		if !code.PointerFree(slice.Elem()) && s.Since("go1.21") {
			lines = fmt.Sprintf("clear(%s)\n", name) + lines
		}
		out = append(out, code.Edit{Text: fmt.Sprintf("append to the array of `%s` instead of dropping it", name),
			Open:    fmt.Sprintf("who gives `%s` must not need what it holds", name),
			Changes: []code.Change{s.Replace(n, lines)}})
	}
	return out
}
