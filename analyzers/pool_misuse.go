package analyzers

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// PoolMisuse reports pools that allocate, or keep, more than they save.
var PoolMisuse = poolMisuseRule.analyzer("poolmisuse", poolMisuse)

var poolMisuseRule = Rule{
	Code:  "pool-misuse",
	Title: "let the pool save what it is there to save",
	Why: "Put takes an interface: a slice passed to it is boxed, one allocation for each Put. A pool that nothing " +
		"is put into " +
		"is a slow New. A pooled bytes.Buffer keeps the size of the largest message it has ever held.",
	Before: "pool.Put(buf) // buf is a []byte",
	After:  "pool.Put(&buf) // the pool holds *[]byte; better, keep the pointer that Get returned",
	Silent: "the pool can be reached from other packages, or the function looks at the buffer's capacity or length.",
}

func poolMisuse(s *source) {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		arg := call.Args[0]
		t := s.TypesInfo.TypeOf(arg)
		switch {
		case s.Boxes(arg):
			s.Flag(call, "Put boxes %s, one allocation each time: pool a pointer to it", code.Brief(arg))
		case code.IsPointerTo(t, "bytes", "Buffer") && !s.checksSize(c):
			s.Flag(call, "a buffer that has held one large message keeps its size in the pool: drop it when Cap() "+
				"is above a limit")
		}
	}, "(*sync.Pool).Put")
	s.checkNeverPut()
}

// checksSize reports whether the function around c asks a buffer for its size.
func (s *source) checksSize(c inspector.Cursor) bool {
	fn, ok := code.EnclosingFunc(c)
	if !ok {
		return true
	}
	for sel := range fn.Preorder((*ast.SelectorExpr)(nil)) {
		switch sel.Node().(*ast.SelectorExpr).Sel.Name {
		case "Cap", "Len", "Available":
			return true
		}
	}
	return false
}

// checkNeverPut looks at pools of this package that have a Get and no Put.
func (s *source) checkNeverPut() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		pool := s.poolOf(call)
		if pool == nil || pool.Exported() || s.reachable(pool) {
			return
		}
		s.Flag(call, "nothing is ever put into %s: each Get makes a new value", pool.Name())
	}, "(*sync.Pool).Get")
}

// poolOf returns the variable or field that holds the pool of a call of Get, if
// it is a sync.Pool declared in this package.
func (s *source) poolOf(call *ast.CallExpr) *types.Var {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	v := s.Object(sel.X)
	if v == nil {
		v = s.Field(sel.X)
	}
	if v == nil || v.Pkg() != s.Pkg || !code.IsNamed(v.Type(), "sync", "Pool") {
		return nil
	}
	return v
}

// reachable reports whether something may be put into the pool: by a call of
// Put, or through an address or copy that was taken.
func (s *source) reachable(pool *types.Var) bool {
	for _, use := range s.Uses[pool] {
		c := use
		if c.ParentEdgeKind() == edge.SelectorExpr_Sel {
			c = c.Parent()
		}
		switch c.ParentEdgeKind() {
		case edge.SelectorExpr_X:
			if name := c.Parent().Node().(*ast.SelectorExpr).Sel.Name; name != "Get" && name != "New" {
				return true
			}
		case edge.ValueSpec_Names, edge.Field_Names, edge.KeyValueExpr_Key, edge.AssignStmt_Lhs:
		default:
			return true
		}
	}
	return false
}
