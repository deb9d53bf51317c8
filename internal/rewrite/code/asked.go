package code

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// OnlyAsked reports whether the compiler makes a string of bytes on the spot without a copy: as a key that a map
// is asked for, in a comparison, for the choice between constants, or for its length.
func (s *Site) OnlyAsked(u inspector.Cursor) bool {
	switch u.ParentEdgeKind() {
	case edge.IndexExpr_Index:
		index := u.Parent()
		m, isMap := s.Info().TypeOf(index.Node().(*ast.IndexExpr).X).Underlying().(*types.Map)
		return isMap && types.Identical(m.Key(), types.Typ[types.String]) && index.ParentEdgeKind() != edge.AssignStmt_Lhs &&
			index.ParentEdgeKind() != edge.IncDecStmt_X && index.ParentEdgeKind() != edge.RangeStmt_Key && index.ParentEdgeKind() != edge.RangeStmt_Value
	case edge.BinaryExpr_X, edge.BinaryExpr_Y:
		switch u.Parent().Node().(*ast.BinaryExpr).Op {
		case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
			return true
		}
	case edge.SwitchStmt_Tag:
		return s.constantCases(u.Parent().Node().(*ast.SwitchStmt))
	case edge.CallExpr_Args:
		return s.Builtin(u.Parent().Node().(ast.Expr), "len") != nil
	}
	return false
}

// constantCases reports whether a switch chooses between constants.
func (s *Site) constantCases(sw *ast.SwitchStmt) bool {
	for _, clause := range sw.Body.List {
		for _, e := range clause.(*ast.CaseClause).List {
			if _, ok := s.ConstString(e); !ok {
				return false
			}
		}
	}
	return true
}
