package analyzers

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/heaptrim/heaptrim/analyzers/internal/code"
)

// UnboxInterface reports values wrapped in an interface, at the price of an
// allocation, where a typed way exists.
var UnboxInterface = unboxInterfaceRule.analyzer("unboxinterface", unboxInterface)

var unboxInterfaceRule = Rule{
	Code:  "unbox-interface",
	Title: "pass the value typed, not wrapped in an interface",
	Why: "A value that is no pointer is copied to the heap when it becomes an interface, whether or not it is " +
		"used: an assertion boxes the arguments of its message each time that it holds.",
	Before: "assert(n <= max, \"%d entries, limit %d\", n, max)",
	After:  "if n > max {\n\tpanic(fmt.Sprintf(\"%d entries, limit %d\", n, max))\n}",
	Silent: "all arguments are constants, pointers, interfaces or single bytes; the call stands on a branch that failed.",
}

func unboxInterface(s *source) {
	s.Each(s.checkAssertCall, (*ast.CallExpr)(nil))
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if s.Boxes(call.Args[1]) {
			s.Flag(call, "heap.%s boxes each element in an interface: keep the heap in a slice of its own type",
				call.Fun.(*ast.SelectorExpr).Sel.Name)
		}
	}, "container/heap.Push")
	s.checkSorts()
	s.checkBinary()
}

// checkAssertCall looks at calls f(cond, format, args...) whose arguments box.
func (s *source) checkAssertCall(c inspector.Cursor) {
	call := c.Node().(*ast.CallExpr)
	fn, ok := typeutil.Callee(s.TypesInfo, call).(*types.Func)
	if !ok || len(call.Args) < 3 || call.Ellipsis.IsValid() || s.IsConstant(call.Args[0]) ||
		!isAssertion(fn.Signature()) {
		return
	}
	for _, arg := range call.Args[2:] {
		if s.Boxes(arg) && !s.Cold(c) {
			s.Flag(call, "%s is boxed for the message even when the condition holds: test the condition here, call "+
				"%s when it fails",
				code.Brief(arg), fn.Name())
			return
		}
	}
}

// isAssertion reports whether sig is func(cond bool, format string, args ...any).
func isAssertion(sig *types.Signature) bool {
	p := sig.Params()
	if !sig.Variadic() || p.Len() != 3 || sig.Results().Len() != 0 {
		return false
	}
	cond, ok := p.At(0).Type().Underlying().(*types.Basic)
	rest := p.At(2).Type().(*types.Slice).Elem()
	return ok && cond.Kind() == types.Bool && code.IsString(p.At(1).Type()) && types.IsInterface(rest) &&
		rest.Underlying().(*types.Interface).Empty()
}

// checkSorts looks at sorting through an interface or by reflection.
func (s *source) checkSorts() {
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		better := map[string]string{"Slice": "SortFunc", "SliceStable": "SortStableFunc"}[name]
		if s.Since(c, "go1.21") && s.Boxes(call.Args[0]) {
			s.Flag(call, "sort.%s boxes the slice and swaps by reflection: slices.%s does neither", name, better)
		}
	}, "sort.Slice", "sort.SliceStable")
	s.EachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		better := map[string]string{"Sort": "SortFunc", "Stable": "SortStableFunc"}[name]
		_, isSlice := s.TypesInfo.TypeOf(call.Args[0]).Underlying().(*types.Slice)
		if isSlice && s.Since(c, "go1.21") {
			s.Flag(call, "sort.%s boxes the slice in an interface: slices.%s does not", name, better)
		}
	}, "sort.Sort", "sort.Stable")
}

// checkBinary looks at single numbers sent through encoding/binary's reflection.
func (s *source) checkBinary() {
	s.EachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		t := s.TypesInfo.TypeOf(call.Args[2])
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		b, ok := t.Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 || s.Sizeof(t) < 2 {
			return
		}
		size := strings.TrimLeft(b.Name(), "uint")
		how := "append it with AppendUint" + size + " of the byte order and write the bytes"
		if name == "Read" {
			how = "read the bytes into an array that is kept and call Uint" + size + " of the byte order"
		}
		s.Flag(call, "binary.%s boxes one number and allocates a buffer for it: %s", name, how)
	}, "encoding/binary.Write", "encoding/binary.Read")
}
