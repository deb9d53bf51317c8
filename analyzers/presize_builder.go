package analyzers

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// PresizeBuilder reports builders and buffers that a loop over something of
// known length fills from empty, and strings that grow by += in a loop.
var PresizeBuilder = presizeBuilderRule.analyzer("presizebuilder", presizeBuilder)

var presizeBuilderRule = Rule{
	Code:   "presize-builder",
	Title:  "put text together in a builder, and give it its room before the loop",
	Why:    "A builder grows as append does: each time it is full, all that was written is copied to a bigger place. A string that grows by += is copied each time.",
	Before: "var b strings.Builder\nfor i := 0; i < len(s); i++ {\n\tb.WriteByte(lower(s[i]))\n}",
	After:  "var b strings.Builder\nb.Grow(len(s))\nfor i := 0; i < len(s); i++ {\n\tb.WriteByte(lower(s[i]))\n}",
	Silent: "some iterations write nothing or end the loop, or the loop is not over a string, bytes, or strings.",
}

func presizeBuilder(s *source) {
	s.checkConcatLoops()
	s.EachSizedLoop(func(loop inspector.Cursor, body *ast.BlockStmt, trips string) {
		over := s.walksOver(loop.Node())
		if over == nil || !s.LeavesBy(body, token.CONTINUE) {
			return
		}
		v, write := s.alwaysWrites(body.List)
		if v == nil {
			return
		}
		if _, ok := s.FreshBefore(loop, v, emptyBuilder); !ok {
			return
		}
		if text, ok := s.BytesOf(over); ok {
			over = text
		}
		t := s.TypesInfo.TypeOf(over)
		switch {
		case code.IsString(t) || code.IsBytes(t) || code.IsRunes(t):
			s.Flag(write, "%s grows while it takes what becomes of %s: call %s.Grow(len(%s)) before the loop",
				v.Name(), code.Brief(over), v.Name(), code.Brief(over))
		case s.writesElement(loop.Node(), write):
			s.Flag(write, "%s grows while it takes the strings of %s: add up their lengths and call %s.Grow before "+
				"the loop",
				v.Name(), code.Brief(over), v.Name())
		}
	})
}

// walksOver returns what a loop goes through: x of `range x`, or of
// `i < len(x)`.
func (s *source) walksOver(loop ast.Node) ast.Expr {
	switch loop := loop.(type) {
	case *ast.RangeStmt:
		if t := s.TypesInfo.TypeOf(loop.X); !code.IsInteger(t) {
			return loop.X
		}
		if call, ok := s.Builtin(loop.X, "len"); ok {
			return call.Args[0]
		}
	case *ast.ForStmt:
		if call, ok := s.Builtin(loop.Cond.(*ast.BinaryExpr).Y, "len"); ok {
			return call.Args[0]
		}
	}
	return nil
}

// alwaysWrites returns the builder that each way through list writes to, and
// the first of the writes.
func (s *source) alwaysWrites(list []ast.Stmt) (*types.Var, ast.Node) {
	for i, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			if v := s.writesTo(stmt.X); v != nil {
				return v, stmt
			}
		case *ast.IfStmt:
			if endsTrip(stmt) {
				v, at := s.alwaysWrites(stmt.Body.List)
				if rest, _ := s.alwaysWrites(list[i+1:]); v != rest {
					return nil, nil
				}
				return v, at
			}
			if v, at := s.allBranchesWrite(stmt); v != nil {
				return v, at
			}
		case *ast.SwitchStmt:
			if v, at := s.allCasesWrite(stmt); v != nil {
				return v, at
			}
		}
	}
	return nil, nil
}

// endsTrip reports whether stmt is an if without else that goes on with the next
// trip.
func endsTrip(stmt *ast.IfStmt) bool {
	if stmt.Else != nil || len(stmt.Body.List) == 0 {
		return false
	}
	branch, ok := stmt.Body.List[len(stmt.Body.List)-1].(*ast.BranchStmt)
	return ok && branch.Tok == token.CONTINUE
}

func (s *source) allBranchesWrite(stmt *ast.IfStmt) (*types.Var, ast.Node) {
	var other *types.Var
	switch e := stmt.Else.(type) {
	case *ast.BlockStmt:
		other, _ = s.alwaysWrites(e.List)
	case *ast.IfStmt:
		other, _ = s.allBranchesWrite(e)
	}
	v, at := s.alwaysWrites(stmt.Body.List)
	if v != other {
		return nil, nil
	}
	return v, at
}

func (s *source) allCasesWrite(stmt *ast.SwitchStmt) (*types.Var, ast.Node) {
	var first *types.Var
	var where ast.Node
	hasDefault := false
	for _, c := range stmt.Body.List {
		clause := c.(*ast.CaseClause)
		hasDefault = hasDefault || clause.List == nil
		v, at := s.alwaysWrites(clause.Body)
		if v == nil || first != nil && v != first {
			return nil, nil
		}
		if first == nil {
			first, where = v, at
		}
	}
	if !hasDefault {
		return nil, nil
	}
	return first, where
}

// writesTo returns b of the calls b.WriteByte, b.WriteRune, b.WriteString, b
// being a local builder or buffer.
func (s *source) writesTo(e ast.Expr) *types.Var {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil
	}
	switch s.CalleeName(call) {
	case "(*strings.Builder).WriteByte", "(*strings.Builder).WriteRune", "(*strings.Builder).WriteString",
		"(*bytes.Buffer).WriteByte", "(*bytes.Buffer).WriteRune", "(*bytes.Buffer).WriteString":
		return s.Object(call.Fun.(*ast.SelectorExpr).X)
	}
	return nil
}

// writesElement reports whether a write puts out the element of a loop over
// strings.
func (s *source) writesElement(loop ast.Node, write ast.Node) bool {
	r, ok := loop.(*ast.RangeStmt)
	if !ok || r.Value == nil {
		return false
	}
	elem := s.Object(r.Value)
	stmt, ok := write.(*ast.ExprStmt)
	if !ok || elem == nil || !code.IsString(elem.Type()) {
		return false
	}
	call := stmt.X.(*ast.CallExpr)
	return len(call.Args) == 1 && s.Object(call.Args[0]) == elem
}

// emptyBuilder reports whether e, nil for none, is an unused builder.
func emptyBuilder(e ast.Expr) bool {
	switch e := e.(type) {
	case nil:
		return true
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.UnaryExpr:
		lit, ok := e.X.(*ast.CompositeLit)
		return ok && len(lit.Elts) == 0
	}
	return false
}
