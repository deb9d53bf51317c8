package owner

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/internal/rewrite/code"
)

// exclusive reports whether two calls of the holder's function on one struct at a time would be a data race
// already: it writes a field, or takes a lock until it ends, whenever it comes to a statement.
func (h *holder) exclusive(s *site, at inspector.Cursor) bool {
	locks := s.guards(h.fn, 0)
	for c := at; c.Node() != ast.Node(h.fn); c = c.Parent() {
		stmt, ok := code.Statement(c)
		if !ok || stmt != c {
			continue
		}
		for before, more := c.PrevSibling(); more; before, more = before.PrevSibling() {
			if next, ok := before.NextSibling(); ok && h.locks(s, before.Node(), next.Node()) || !locks && h.writes(s, before.Node(), 0) {
				return true
			}
		}
		if !locks && c == at && h.writesAfter(s, c) {
			return true
		}
	}
	return false
}

// guards reports whether a function uses locks, channels or atomic values, itself or by functions of the package that it
// calls: its own writes then prove nothing. Calls that are nested deeper than three are not followed.
func (s *site) guards(fn *ast.FuncDecl, depth int) bool {
	const deepest = 3
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr: // possibly of another file of the package
			of := s.Info().Uses[n.Sel]
			found = found || slices.Contains([]string{"Lock", "RLock", "TryLock", "CompareAndSwap", "Do"}, n.Sel.Name) ||
				of != nil && of.Pkg() != nil && of.Pkg().Path() == "sync/atomic"
		case *ast.SendStmt, *ast.SelectStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			callee, ok := typeutil.Callee(s.Info(), n).(*types.Func)
			if !ok || depth == deepest || found {
				break
			}
			if _, decl := s.FuncOf(callee); decl != nil && decl.Body != nil {
				found = s.guards(decl, depth+1)
			}
		}
		return !found
	})
	return found
}

// writesAfter reports whether a statement behind another in its list writes a field, and nothing returns in between.
func (h *holder) writesAfter(s *site, c inspector.Cursor) bool {
	for after, more := c.NextSibling(); more; after, more = after.NextSibling() {
		if h.writes(s, after.Node(), 0) {
			return true
		}
		if leaves(after.Node()) {
			return false
		}
	}
	return false
}

// leaves reports whether a statement may end its list before the end.
func leaves(n ast.Node) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ReturnStmt, *ast.BranchStmt:
			found = true
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// writes reports whether a statement sets a field of the holder's struct in any case, itself or by a method.
func (h *holder) writes(s *site, n ast.Node, depth int) bool {
	field := func(e ast.Expr) bool {
		sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
		return ok && s.Local(sel.X) == h.v
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, field) || slices.ContainsFunc(n.Rhs, func(e ast.Expr) bool { return h.calls(s, e, depth) })
	case *ast.IncDecStmt:
		return field(n.X)
	case *ast.ExprStmt:
		return h.calls(s, n.X, depth)
	case *ast.IfStmt:
		return n.Init != nil && h.writes(s, n.Init, depth) || n.Init == nil && h.calls(s, n.Cond, depth)
	}
	return false
}

// calls reports whether an expression is a call of a method that sets a field of the holder's struct in any case.
func (h *holder) calls(s *site, e ast.Expr, depth int) bool {
	const deepest = 3
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok || depth == deepest {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	fn, isFunc := typeutil.Callee(s.Info(), call).(*types.Func)
	if !ok || !isFunc || s.Local(sel.X) != h.v {
		return false
	}
	_, decl := s.FuncOf(fn)
	if decl == nil || decl.Body == nil || decl.Recv == nil || len(decl.Recv.List[0].Names) != 1 {
		return false
	}
	v, ok := s.Info().Defs[decl.Recv.List[0].Names[0]].(*types.Var)
	if !ok || s.guards(decl, 0) {
		return false
	}
	if _, pointer := v.Type().Underlying().(*types.Pointer); !pointer {
		return false
	}
	inner := &holder{v: v, typ: h.typ, fn: decl}
	for _, stmt := range decl.Body.List {
		if inner.writes(s, stmt, depth+1) {
			return true
		}
		if leaves(stmt) {
			return false
		}
	}
	return false
}

// locks reports whether a statement locks a mutex of the holder's struct, and the next one unlocks it when the
// function ends.
func (h *holder) locks(s *site, n, next ast.Node) bool {
	call, ok := n.(*ast.ExprStmt)
	unlock, deferred := next.(*ast.DeferStmt)
	if !ok || !deferred {
		return false
	}
	lock, ok := call.X.(*ast.CallExpr)
	if !ok || s.RootOf(lock.Fun) != types.Object(h.v) {
		return false
	}
	name := s.Callee(lock)
	return (name == "(*sync.Mutex).Lock" || name == "(*sync.RWMutex).Lock") &&
		s.Source(unlock.Call.Fun) == strings.TrimSuffix(s.Source(lock.Fun), "Lock")+"Unlock"
}
