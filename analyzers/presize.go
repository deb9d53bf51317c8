package analyzers

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// PresizeSlice reports slices that grow element by element to a length that is
// known before the loop.
var PresizeSlice = presizeSliceRule.analyzer("presizeslice", presizeSlice)

var presizeSliceRule = Rule{
	Code:  "presize-slice",
	Title: "make the slice with the capacity that the loop will fill",
	Why: "Append doubles a full slice, later grows it by a quarter: 1000 elements cost about ten allocations and copies, " +
		"and all but the last are garbage.",
	Before: "var names []string\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	After:  "names := make([]string, 0, len(users))\nfor _, u := range users {\n\tnames = append(names, u.Name)\n}",
	Silent: "the append is conditional, an iteration may skip it or end the loop early (but for an error), the " +
		"slice is not empty " +
		"before the loop, or the count was read from outside the program and cannot be trusted.",
}

func presizeSlice(s *source) {
	s.EachSizedLoop(func(loop inspector.Cursor, body *ast.BlockStmt, trips string) {
		if !s.Straight(body) {
			return
		}
		seen := make(map[*types.Var]bool)
		for _, stmt := range body.List {
			v, perTrip := s.appendsTo(stmt)
			if v == nil || seen[v] || countAssigns(s, body, v) != 1 {
				continue
			}
			seen[v] = true
			if _, ok := s.FreshBefore(loop, v, s.emptySlice); !ok {
				continue
			}
			n := trips
			if perTrip > 1 {
				n = fmt.Sprintf("%d*%s", perTrip, trips)
			}
			s.Flag(stmt, "%s grows step by step to a length known before the loop: make it with capacity %s", v.Name(),
				n)
		}
	})
}

// appendsTo returns v and n of a statement `v = append(v, e1, …, en)`.
func (s *source) appendsTo(stmt ast.Stmt) (*types.Var, int) {
	assign, ok := stmt.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
		return nil, 0
	}
	call, ok := s.Builtin(assign.Rhs[0], "append")
	v := s.Object(assign.Lhs[0])
	if !ok || v == nil || call.Ellipsis.IsValid() || len(call.Args) < 2 || s.Object(call.Args[0]) != v {
		return nil, 0
	}
	return v, len(call.Args) - 1
}

// countAssigns is how many statements below n assign to v itself.
func countAssigns(s *source, n ast.Node, v *types.Var) int {
	count := 0
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, lhs := range n.Lhs {
				if s.Object(lhs) == v {
					count++
				}
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND && s.Object(n.X) == v {
				count += 2 // may be changed anywhere
			}
		}
		return true
	})
	return count
}

// emptySlice reports whether e, nil for none, makes a slice without capacity.
func (s *source) emptySlice(e ast.Expr) bool {
	if e == nil || s.IsNil(e) {
		return true
	}
	if lit, ok := e.(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	if call, ok := s.Builtin(e, "make"); ok {
		return len(call.Args) == 2 && s.IsInt(call.Args[1], 0)
	}
	call, ok := e.(*ast.CallExpr) // []T(nil)
	return ok && len(call.Args) == 1 && s.TypesInfo.Types[call.Fun].IsType() && s.IsNil(call.Args[0])
}

// PresizeMap reports maps without a size that a loop fills with a number of
// entries known before it.
var PresizeMap = presizeMapRule.analyzer("presizemap", presizeMap)

var presizeMapRule = Rule{
	Code:  "presize-map",
	Title: "make the map with the size that the loop will fill",
	Why: "A map without a size starts with room for eight entries and is rebuilt at each doubling: every entry is hashed " +
		"and copied again, and the tables left behind are garbage.",
	Before: "byID := make(map[string]*User)\nfor _, u := range users {\n\tbyID[u.ID] = u\n}",
	After:  "byID := make(map[string]*User, len(users))\nfor _, u := range users {\n\tbyID[u.ID] = u\n}",
	Silent: "the insert is conditional, counts or groups (m[k]++, append), its key does not follow the loop, or there are no " +
		"more entries than the eight that every map has room for.",
}

func presizeMap(s *source) {
	s.EachSizedLoop(func(loop inspector.Cursor, body *ast.BlockStmt, trips string) {
		if !s.Straight(body) {
			return
		}
		for _, stmt := range body.List {
			v, key := s.insertsInto(stmt)
			if v == nil || !s.followsLoop(loop.Node(), key) || s.fewTrips(loop.Node()) || s.groups(body, stmt, v) {
				continue
			}
			if _, ok := s.FreshBefore(loop, v, s.emptyMap); ok {
				s.Flag(stmt, "%s is rebuilt while it grows to a size known before the loop: make it with size %s",
					v.Name(), trips)
			}
		}
	})
}

// insertsInto returns m and k of a statement `m[k] = …` that does not read m.
func (s *source) insertsInto(stmt ast.Stmt) (*types.Var, ast.Expr) {
	assign, ok := stmt.(*ast.AssignStmt)
	if !ok || assign.Tok != token.ASSIGN || len(assign.Lhs) != 1 {
		return nil, nil
	}
	index, ok := assign.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return nil, nil
	}
	v := s.Object(index.X)
	if v == nil || s.MentionsIn(assign.Rhs[0], v) {
		return nil, nil
	}
	if _, ok := v.Type().Underlying().(*types.Map); !ok {
		return nil, nil
	}
	return v, index.Index
}

// groups reports whether body reads entries of v: it then adds to them, and
// there are fewer than trips. Asking whether an entry is there does not count.
func (s *source) groups(body *ast.BlockStmt, insert ast.Stmt, v *types.Var) bool {
	for _, use := range s.Uses[v] {
		pos := use.Node().Pos()
		if pos < body.Pos() || body.End() <= pos || insert.Pos() <= pos && pos < insert.End() {
			continue
		}
		if use.ParentEdgeKind() != edge.IndexExpr_X || !onlyAsks(use.Parent()) {
			return true
		}
	}
	return false
}

// followsLoop reports whether e differs from trip to trip as far as one can
// see: it is, or is part of, the element or the index of the loop.
func (s *source) followsLoop(loop ast.Node, e ast.Expr) bool {
	var vars []*types.Var
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		for _, v := range []ast.Expr{loop.Key, loop.Value} {
			if v != nil && s.Object(v) != nil {
				vars = append(vars, s.Object(v))
			}
		}
	case *ast.ForStmt:
		vars = append(vars, s.Object(loop.Init.(*ast.AssignStmt).Lhs[0]))
	}
	for _, v := range vars {
		if s.MentionsIn(e, v) {
			return true
		}
	}
	return false
}

// fewTrips reports whether a loop is known to run at most eight times.
func (s *source) fewTrips(loop ast.Node) bool {
	var n ast.Expr
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		n = loop.X
		t := s.TypesInfo.TypeOf(n)
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if array, ok := t.Underlying().(*types.Array); ok {
			return array.Len() <= 8
		}
	case *ast.ForStmt:
		n = loop.Cond.(*ast.BinaryExpr).Y
	}
	count, ok := s.IntValue(n)
	return ok && count <= 8
}

func (s *source) emptyMap(e ast.Expr) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		return len(lit.Elts) == 0
	}
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	_, ok = s.Builtin(call, "make")
	return ok && len(call.Args) == 1
}
