package analyzers

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// HoistClosure reports function literals made anew in each iteration of a loop
// although nothing in them belongs to the trip.
var HoistClosure = hoistClosureRule.analyzer("hoistclosure", hoistClosure)

var hoistClosureRule = Rule{
	Code:  "hoist-closure",
	Title: "make the function value once, before the loop",
	Why: "A function literal that uses variables around it is an object with their addresses or values. If it is " +
		"passed " +
		"to code that may keep it, it is on the heap, once for each iteration.",
	Before: "for _, n := range nodes {\n\tn.visit.Each(func(c *Node) { total += c.Size }) // Each is an interface method\n}",
	After:  "add := func(c *Node) { total += c.Size }\nfor _, n := range nodes {\n\tn.visit.Each(add)\n}",
	Silent: "the literal uses a variable of the iteration, or none at all, or goes to a function that is not " +
		"known to keep it.",
}

func hoistClosure(s *source) {
	s.Each(func(c inspector.Cursor) {
		loop, ok := code.EnclosingLoop(c)
		if !ok || s.Cold(c) || !s.Repeats(c, loop) || !s.outlives(c) || !s.capturesOnlyBefore(c, loop.Node()) {
			return
		}
		s.Flag(c.Node().(*ast.FuncLit).Type,
			"the closure is made in each iteration and uses nothing of the iteration: make it once, before the loop")
	}, (*ast.FuncLit)(nil))
}

// outlives reports whether the function literal at c is handed to something
// that makes it escape: a call that the compiler cannot see through, or a
// function that is known to keep what it gets.
func (s *source) outlives(c inspector.Cursor) bool {
	if c.ParentEdgeKind() != edge.CallExpr_Args {
		return false
	}
	call := c.Parent().Node().(*ast.CallExpr)
	switch k := c.Parent().ParentEdgeKind(); k {
	case edge.GoStmt_Call, edge.DeferStmt_Call:
		return false
	}
	fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
	if !ok {
		return false
	}
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) && !code.IsTypeParam(recv.Type()) {
		return true
	}
	switch fn.FullName() {
	case "time.AfterFunc", "context.AfterFunc", "(*sync.WaitGroup).Go", "(*golang.org/x/sync/errgroup.Group).Go":
		return true
	}
	return false
}

// capturesOnlyBefore reports whether the literal at c uses at least one local
// variable, and only such that are declared outside the loop.
func (s *source) capturesOnlyBefore(c inspector.Cursor, loop ast.Node) bool {
	lit := c.Node()
	captures, ok := false, true
	for id := range c.Preorder((*ast.Ident)(nil)) {
		v, isVar := s.TypesInfo.Uses[id.Node().(*ast.Ident)].(*types.Var)
		if !isVar || v.IsField() || v.Parent() == nil || v.Parent() == s.Pkg.Scope() || v.Parent() == types.Universe {
			continue
		}
		if within(v, lit) || v.Pkg() != s.Pkg {
			continue
		}
		captures = true
		ok = ok && !within(v, loop)
	}
	return captures && ok
}

func within(v *types.Var, n ast.Node) bool { return n.Pos() <= v.Pos() && v.Pos() < n.End() }
