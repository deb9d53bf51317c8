package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// checkSplits looks at slices of parts of which only one or two are used.
func (s *source) checkSplits() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if sep, ok := s.ConstantString(call.Args[1]); !ok || sep == "" {
			return // an empty separator splits into characters
		}
		pkg, name, _ := strings.Cut(s.CalleeName(call), ".")
		limited := name == "SplitN"
		if limited && !s.IsInt(call.Args[2], 2) {
			return
		}
		use, ok := s.partsUsed(c)
		switch {
		case !ok:
		case use.first && !use.second && !use.last && !use.counted:
			s.Flag(call, "%s makes a slice of all parts for the first: use %s.Cut", name, pkg)
		case limited && use.second && !use.last:
			s.Flag(call, "%s makes a slice for two parts: %s.Cut returns them", name, pkg)
		case !limited && use.counted && use.second && !use.last:
			s.Flag(call, "%s makes a slice of all parts where two are looked at: %s.Cut, and a look for a further "+
				"separator", name, pkg)
		case !limited && use.last && !use.first && !use.second && !use.counted:
			s.Flag(call, "%s makes a slice of all parts for the last: cut at %s.LastIndex", name, pkg)
		case !limited && use.counted && !use.first && !use.second && !use.last:
			s.Flag(call, "%s makes a slice of all parts to count them: use %s.Count", name, pkg)
		}
	}, "strings.Split", "strings.SplitN")
}

// use says what becomes of a slice of parts.
type use struct{ first, second, last, counted bool }

// partsUsed looks at all uses of the slice that the call at c returns; ok is
// false if there is one that needs the slice.
func (s *source) partsUsed(c inspector.Cursor) (u use, ok bool) {
	if c.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return u, s.partUsed(c, nil, &u)
	}
	assign := c.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.DEFINE || len(assign.Lhs) != 1 {
		return u, false
	}
	v := s.Object(assign.Lhs[0])
	if v == nil {
		return u, false
	}
	for _, at := range s.Uses[v] {
		if at.Node() != assign.Lhs[0] && !s.partUsed(at, v, &u) {
			return u, false
		}
	}
	return u, true
}

// partUsed records one use of the slice, at c; v is its variable, if it has one.
func (s *source) partUsed(c inspector.Cursor, v *types.Var, u *use) bool {
	switch parent := c.Parent().Node().(type) {
	case *ast.IndexExpr:
		if parent.X != c.Node() || isStored(c.Parent()) {
			return false
		}
		switch {
		case s.IsInt(parent.Index, 0):
			u.first = true
		case s.IsInt(parent.Index, 1):
			u.second = true
		case v != nil && s.isLastIndex(parent.Index, v):
			u.last = true
		default:
			return false
		}
		return true
	case *ast.CallExpr:
		_, isLen := s.Builtin(parent, "len")
		// len(v)-1 as an index is part of a use that is recorded.
		if isLen && v != nil && c.Parent().ParentEdgeKind() == edge.BinaryExpr_X &&
			c.Parent().Parent().ParentEdgeKind() == edge.IndexExpr_Index {
			return true
		}
		u.counted = u.counted || isLen
		return isLen
	}
	return false
}

// isStored reports whether c is assigned to, or its address taken.
func isStored(c inspector.Cursor) bool {
	switch c.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.UnaryExpr_X, edge.IncDecStmt_X:
		return true
	}
	return false
}

// isLastIndex reports whether e is len(v)-1.
func (s *source) isLastIndex(e ast.Expr, v *types.Var) bool {
	b, ok := ast.Unparen(e).(*ast.BinaryExpr)
	if !ok || b.Op != token.SUB || !s.IsInt(b.Y, 1) {
		return false
	}
	call, ok := s.Builtin(b.X, "len")
	return ok && s.Object(call.Args[0]) == v
}

// checkSplitLoops looks at slices of parts that one loop walks through.
func (s *source) checkSplitLoops() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		if !s.Since(c, "go1.24") || !s.onlyRanged(c) {
			return
		}
		full := s.CalleeName(call)
		s.Flag(call, "a slice of all parts is made for one loop: %sSeq yields them one by one", full)
	}, "strings.Split", "strings.Fields", "bytes.Split", "bytes.Fields")
}

// onlyRanged reports whether the value at c is ranged over without its index,
// directly or through a variable without another use.
func (s *source) onlyRanged(c inspector.Cursor) bool {
	if c.ParentEdgeKind() == edge.RangeStmt_X {
		loop := c.Parent().Node().(*ast.RangeStmt)
		return loop.Value != nil && isBlank(loop.Key) && loop.Tok == token.DEFINE
	}
	if c.ParentEdgeKind() != edge.AssignStmt_Rhs {
		return false
	}
	assign := c.Parent().Node().(*ast.AssignStmt)
	if assign.Tok != token.DEFINE || len(assign.Lhs) != 1 {
		return false
	}
	v := s.Object(assign.Lhs[0])
	return v != nil && len(s.Uses[v]) == 2 && s.Uses[v][1].ParentEdgeKind() == edge.RangeStmt_X &&
		s.onlyRanged(s.Uses[v][1]) &&
		s.sameList(c.Parent(), s.Uses[v][1].Parent())
}

// sameList reports whether two statements stand in one list, so that the
// second runs once for each run of the first.
func (s *source) sameList(a, b inspector.Cursor) bool { return a.Parent().Node() == b.Parent().Node() }
