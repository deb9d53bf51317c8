package code

import "go/ast"

// EmptySlice reports whether an expression is a nil or empty slice without room.
func (f *File) EmptySlice(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.SliceExpr: // x[:0:0] has no room
		return e.Slice3 && f.IsZero(e.Max)
	case *ast.CallExpr:
		return f.Info().Types[e.Fun].IsType() && len(e.Args) == 1 && f.Info().Types[e.Args[0]].IsNil()
	}
	return f.Info().Types[e].IsNil()
}
