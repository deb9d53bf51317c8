package memory

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// StackAppended gives a slice that begins empty, is appended to and is only looked at in its function an array of
// the frame to begin with. Elements that do not fit go to the heap as before.
func StackAppended(on *code.Site) []code.Edit {
	s := &site{on}
	v := s.madeHere()
	if assign, call := s.Appends(); assign != nil && s.Builtin(call, "append") != nil {
		v = s.Local(assign.Lhs[0])
	}
	if v == nil {
		return nil
	}
	slice, ok := v.Type().(*types.Slice)
	fn, body := code.Function(s.Cur)
	if !ok || body == nil || !s.startsFresh(v, fn) || !s.onlyHere(v, fn) {
		return nil
	}
	elem, n := s.TypeText(slice.Elem()), s.elements64(slice.Elem())
	if elem == "" || n == 0 || !s.Place.Grown {
		return nil
	}
	for _, u := range s.Uses(v, fn) {
		stmt, listed := code.Statement(u)
		if u.Node().Pos() != v.Pos() || !listed || s.Commented(stmt.Node()) {
			continue
		}
		if decl, isDecl := stmt.Node().(*ast.DeclStmt); isDecl && code.OnlySpec(decl) == nil {
			return nil
		}
		array := s.Fresh(v.Name()+"Array", stmt.Node().Pos())
		text := fmt.Sprintf("var %s [%d]%s\n%s := %[1]s[:0]", array, n, elem, v.Name())
		return []code.Edit{{Text: fmt.Sprintf("keep the first %d elements of `%s` in an array on the stack", n, v.Name()),
			Changes: []code.Change{s.Replace(stmt.Node(), text)}}}
	}
	return nil
}

// onlyHere reports whether a slice of a function is only appended to and looked at there, and nothing asks for its
// capacity, or whether it is nil.
func (s *site) onlyHere(v *types.Var, fn inspector.Cursor) bool {
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) || u.Node().Pos() != v.Pos() && !s.looksAt(u, v) {
			return false
		}
	}
	return true
}

// looksAt reports whether a use of a slice appends to it, or reads of it what its array and its being nil do not show in.
func (s *site) looksAt(u inspector.Cursor, v *types.Var) bool {
	switch u.ParentEdgeKind() {
	case edge.AssignStmt_Lhs:
		return s.appendsTo(u.Parent().Node().(*ast.AssignStmt), v)
	case edge.RangeStmt_X:
		return !s.grownIn(v, u.Parent()) // it would see writes to what was appended to
	case edge.IndexExpr_X:
		x := u.Parent()
		for x.ParentEdgeKind() == edge.SelectorExpr_X || x.ParentEdgeKind() == edge.IndexExpr_X || x.ParentEdgeKind() == edge.ParenExpr_X {
			x = x.Parent()
		}
		unary, isUnary := x.Parent().Node().(*ast.UnaryExpr)
		return x.ParentEdgeKind() != edge.SliceExpr_X && !(isUnary && unary.Op == token.AND) && !s.methodOf(x)
	case edge.CallExpr_Args:
		call := u.Parent().Node().(*ast.CallExpr)
		if into := s.Builtin(call, "append"); into != nil {
			own := call.Args[0] == u.Node() && u.Parent().ParentEdgeKind() == edge.AssignStmt_Rhs
			return own && s.appendsTo(u.Parent().Parent().Node().(*ast.AssignStmt), v) || call.Args[0] != u.Node() && call.Ellipsis.IsValid()
		}
		return s.Builtin(call, "len") != nil || s.Builtin(call, "copy") != nil || readOnly[s.Callee(call)] ||
			s.Info().Types[call.Fun].IsType() && code.IsString(s.Info().TypeOf(call))
	}
	return false
}

// grownIn reports whether a slice is assigned to in a statement.
func (s *site) grownIn(v *types.Var, stmt inspector.Cursor) bool {
	for _, u := range s.Uses(v, stmt) {
		if u.ParentEdgeKind() == edge.AssignStmt_Lhs {
			return true
		}
	}
	return false
}

// methodOf reports whether an expression is a method, which may take the address of what it is called on.
func (s *site) methodOf(x inspector.Cursor) bool {
	sel, ok := x.Node().(*ast.SelectorExpr)
	if !ok {
		return false
	}
	m := s.Info().Selections[sel]
	return m == nil || m.Kind() != types.FieldVal
}

// readOnly are functions that look at a slice and keep nothing of it, or sort it, and take nil for empty.
var readOnly = map[string]bool{
	"strings.Join": true, "bytes.Join": true, "bytes.Equal": true, "bytes.Compare": true, "bytes.Contains": true, "bytes.Index": true,
	"bytes.IndexByte": true, "bytes.HasPrefix": true, "bytes.HasSuffix": true, "sort.Strings": true, "sort.Ints": true, "sort.Float64s": true,
	"slices.Sort": true, "slices.Contains": true, "slices.Index": true, "slices.Reverse": true, "slices.Equal": true, "slices.BinarySearch": true,
	"unicode/utf8.RuneCount": true, "unicode/utf8.Valid": true, "encoding/hex.EncodeToString": true,
}
