package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// checkConcatLoops looks at strings that grow by += in each iteration of a loop.
func (s *source) checkConcatLoops() {
	seen := make(map[*types.Var]bool)
	s.Each(func(c inspector.Cursor) {
		v := s.growsString(c.Node().(*ast.AssignStmt))
		if v == nil || seen[v] || s.Cold(c) {
			return
		}
		loop, ok := code.EnclosingLoop(c)
		if !ok || within(v, loop.Node()) || !s.Repeats(c, loop) || !s.onlyGrows(v, loop) {
			return
		}
		seen[v] = true
		s.Flag(c.Node(), "%s is copied whole each time it grows: collect the parts in a strings.Builder", v.Name())
	}, (*ast.AssignStmt)(nil))
}

// growsString returns v of `v += x`, `v = v + x` and `v = fmt.Sprintf(f, v, x)`,
// v being a local string.
func (s *source) growsString(assign *ast.AssignStmt) *types.Var {
	if len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil
	}
	v := s.Object(assign.Lhs[0])
	if v == nil || v.IsField() || v.Parent() == s.Pkg.Scope() || !code.IsString(v.Type()) ||
		code.IsTypeParam(v.Type()) {
		return nil
	}
	switch assign.Tok {
	case token.ADD_ASSIGN:
		return v
	case token.ASSIGN:
		if call, ok := s.IsCallOf(assign.Rhs[0], "fmt.Sprintf"); ok {
			if len(call.Args) > 1 && s.Object(call.Args[1]) == v {
				return v
			}
			return nil
		}
		e := assign.Rhs[0]
		for {
			b, ok := ast.Unparen(e).(*ast.BinaryExpr)
			if !ok {
				break
			}
			e = b.X
		}
		if b, ok := ast.Unparen(assign.Rhs[0]).(*ast.BinaryExpr); ok && b.Op == token.ADD && s.Object(e) == v {
			return v
		}
	}
	return nil
}

// onlyGrows reports whether v is nothing but added to in loop: it is neither
// read, nor set anew, nor captured there.
func (s *source) onlyGrows(v *types.Var, loop inspector.Cursor) bool {
	adds := 0
	for _, use := range s.Uses[v] {
		if !loop.Contains(use) {
			continue
		}
		assign, ok := use.Parent().Node().(*ast.AssignStmt)
		switch {
		case ok && use.ParentEdgeKind() == edge.AssignStmt_Lhs && s.growsString(assign) == v:
			adds++
		case use.ParentEdgeKind() == edge.BinaryExpr_X && s.isOwnSum(use, v):
		case use.ParentEdgeKind() == edge.CallExpr_Args && (s.isLenTest(use) || s.isOwnFormat(use, v)):
		case use.ParentEdgeKind() == edge.BinaryExpr_X && s.isEmptyTest(use):
		default:
			return false
		}
	}
	return adds > 0
}

// isOwnSum reports whether use is the first v of `v = v + x`.
func (s *source) isOwnSum(use inspector.Cursor, v *types.Var) bool {
	for c := range use.Enclosing((*ast.AssignStmt)(nil)) {
		return s.growsString(c.Node().(*ast.AssignStmt)) == v
	}
	return false
}

// isOwnFormat reports whether use is the v of `v = fmt.Sprintf(f, v, x)`.
func (s *source) isOwnFormat(use inspector.Cursor, v *types.Var) bool {
	if use.ParentEdgeIndex() != 1 || use.Parent().ParentEdgeKind() != edge.AssignStmt_Rhs {
		return false
	}
	return s.growsString(use.Parent().Parent().Node().(*ast.AssignStmt)) == v
}

func (s *source) isLenTest(use inspector.Cursor) bool {
	_, ok := s.Builtin(use.Parent().Node().(*ast.CallExpr), "len")
	return ok
}

// isEmptyTest reports whether use is v of `v == ""` or `v != ""`.
func (s *source) isEmptyTest(use inspector.Cursor) bool {
	b := use.Parent().Node().(*ast.BinaryExpr)
	text, ok := s.ConstantString(b.Y)
	return ok && text == "" && (b.Op == token.EQL || b.Op == token.NEQ)
}
