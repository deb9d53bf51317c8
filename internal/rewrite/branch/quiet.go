package branch

import (
	"go/ast"
	"go/token"
	"go/types"
)

// quiet reports whether nothing that runs between two positions of a function writes to memory that
// others see, or lets another goroutine run: no call, no assignment but to variables, nothing of channels.
func (s *site) quiet(in ast.Node, from, to token.Pos) bool {
	still := true
	ast.Inspect(in, func(n ast.Node) bool {
		if n == nil || n.End() <= from || n.Pos() >= to {
			return false
		}
		if _, ok := n.(*ast.FuncLit); ok {
			return n.Pos() < from // one in between only makes a function
		}
		still = still && (n.Pos() < from && n.End() > from || !s.acts(n))
		return still
	})
	return still
}

// acts reports whether a node, without its children, may write to shared memory or let another goroutine run.
func (s *site) acts(n ast.Node) bool {
	variable := func(e ast.Expr) bool { // whose fields and elements no pointer can lead to
		if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
			return true
		}
		v := s.Local(e)
		if v == nil {
			return false
		}
		switch v.Type().Underlying().(type) {
		case *types.Struct, *types.Array:
			return false
		}
		return true
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		return s.Builtin(n, "len") == nil && s.Builtin(n, "cap") == nil && !s.Info().Types[n.Fun].IsType()
	case *ast.AssignStmt:
		for _, e := range n.Lhs {
			if !variable(e) {
				return true
			}
		}
	case *ast.IncDecStmt:
		return !variable(n.X)
	case *ast.RangeStmt:
		switch s.Info().TypeOf(n.X).Underlying().(type) {
		case *types.Signature, *types.Chan, *types.Interface: // the last is of a type parameter
			return true
		}
		return n.Key != nil && !variable(n.Key) || n.Value != nil && !variable(n.Value)
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	case *ast.SendStmt, *ast.SelectStmt, *ast.GoStmt, *ast.DeferStmt:
		return true
	}
	return false
}
