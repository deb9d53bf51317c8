package analyzers

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
)

// FinalizerCost reports finalizers that a cleanup can replace.
var FinalizerCost = finalizerCostRule.analyzer("finalizercost", finalizerCost)

var finalizerCostRule = Rule{
	Code:  "finalizer-cost",
	Title: "attach a cleanup to what must be freed, not a finalizer to the object",
	Why: "An object with a finalizer, and all that it points to, survives the cycle that finds it dead and is freed at the next " +
		"one or later. A cleanup gets a copy of what it has to free, so the object is freed at once.",
	Before: "runtime.SetFinalizer(f, func(f *file) { syscall.Close(f.fd) })",
	After:  "runtime.AddCleanup(f, func(fd int) { syscall.Close(fd) }, f.fd)",
	Silent: "the finalizer uses the object as a whole, more than one of its fields, or is no literal; it is cleared (nil); the file " +
		"is for a Go before 1.24.",
}

func finalizerCost(s *source) {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		lit, ok := ast.Unparen(call.Args[1]).(*ast.FuncLit)
		if !ok || !s.Since(c, "go1.24") {
			return
		}
		if field := s.onlyField(lit); field != "" {
			s.Flag(call, "the finalizer keeps the object for another cycle, and uses only its field %s: "+
				"runtime.AddCleanup gets a copy of that and lets the object go", field)
		}
	}, "runtime.SetFinalizer")
}

// onlyField returns the one field of its parameter that lit reads.
func (s *source) onlyField(lit *ast.FuncLit) string {
	if lit.Type.Params.NumFields() != 1 || len(lit.Type.Params.List[0].Names) != 1 {
		return ""
	}
	v, ok := s.TypesInfo.Defs[lit.Type.Params.List[0].Names[0]].(*types.Var)
	if !ok {
		return ""
	}
	name := ""
	for _, use := range s.Uses[v][1:] {
		if use.ParentEdgeKind() != edge.SelectorExpr_X || isStored(use.Parent()) {
			return ""
		}
		sel := use.Parent().Node().(*ast.SelectorExpr)
		if s.Field(sel) == nil || name != "" && name != sel.Sel.Name {
			return ""
		}
		name = sel.Sel.Name
	}
	return name
}
