package copies

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// lent puts the original in place of a copy that is handed to a function which may return a part of it, or hand it on,
// but neither changes nor stores it by itself.
func (s *site) lent(x ast.Expr) []code.Edit {
	if edits := s.handed(x); edits != nil {
		return edits
	}
	kind, i := s.Cur.ParentEdge()
	if kind != edge.CallExpr_Args || s.Place.Outlives || !s.pure(x) || waitsFor(s.Cur) {
		return nil
	}
	call := s.Cur.Parent().Node().(*ast.CallExpr)
	if s.changesHere(x) || !s.partOf(call) && !s.leaves(call, i) && s.Callee(call) != "bytes.NewReader" {
		return nil
	}
	edit := s.instead(x)
	edit.Open = fmt.Sprintf("neither `%s` nor what `%s` makes of it must change while the other is in use, and nothing may keep it",
		s.Source(x), s.Source(call.Fun))
	return []code.Edit{edit}
}

// pure reports whether a slice, or a part of one, is named without calls.
func (s *site) pure(x ast.Expr) bool {
	part, ok := ast.Unparen(x).(*ast.SliceExpr)
	if !ok {
		return s.Pure(x)
	}
	for _, bound := range []ast.Expr{part.Low, part.High, part.Max} {
		if bound != nil && !s.PureSize(bound) {
			return false
		}
	}
	return s.Pure(part.X)
}

// changesHere reports whether the function may change what it copies by its own name, store it, or have it used at its end.
func (s *site) changesHere(x ast.Expr) bool {
	if part, ok := ast.Unparen(x).(*ast.SliceExpr); ok {
		x = part.X
	}
	v := s.Local(x)
	fn, body := code.Function(s.Cur)
	if v == nil || body == nil {
		return true
	}
	for _, u := range s.Uses(v, fn) {
		if !code.Within(u, fn) || waitsFor(u) || u.ParentEdgeKind() != edge.Field_Names && u.ParentEdgeKind() != edge.ValueSpec_Names && s.changes(u) {
			return true
		}
	}
	return false
}

// partOf reports whether a call returns a part of its argument.
func (s *site) partOf(call *ast.CallExpr) bool {
	name := s.Callee(call)
	return slices.ContainsFunc([]string{"bytes.Trim", "bytes.Cut", "bytes.Fields", "bytes.Split", "encoding/pem.Decode"}, func(f string) bool { return strings.HasPrefix(name, f) })
}

// leaves reports whether the function that is called leaves its argument number i as it is, and stores it nowhere itself.
func (s *site) leaves(call *ast.CallExpr, i int) bool {
	fn := typeutil.StaticCallee(s.Info(), call)
	file, decl := s.FuncOf(fn)
	if decl == nil || fn.Signature().Variadic() {
		return false
	}
	c, _ := file.Root.FindNode(decl)
	for n, u := range file.Uses(fn.Signature().Params().At(i), c) {
		if n > 0 && (!code.Within(u, c) || waitsFor(u) || s.changes(u)) { // first the parameter itself
			return false
		}
	}
	return true
}

// changes reports whether the place of a slice may change its elements, or stores it where others find it.
func (s *site) changes(u inspector.Cursor) bool {
	at := s.outside(u)
	switch at.ParentEdgeKind() {
	case edge.RangeStmt_X, edge.ReturnStmt_Results, edge.AssignStmt_Lhs, edge.BinaryExpr_X:
		return false
	case edge.AssignStmt_Rhs: // another variable may change the elements
		return s.assigned(at) != s.Info().ObjectOf(u.Node().(*ast.Ident))
	case edge.CallExpr_Args:
		call := at.Parent().Node().(*ast.CallExpr)
		if call.Args[0] == at.Node() {
			return s.Builtin(call, "append") != nil || s.Builtin(call, "copy") != nil || s.Builtin(call, "clear") != nil
		}
		return s.Builtin(call, "append") != nil && !call.Ellipsis.IsValid()
	}
	return !s.onlyRead(at)
}
