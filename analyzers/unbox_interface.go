package analyzers

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// UnboxInterface reports values wrapped in an interface, at the price of an
// allocation, where a typed way exists.
var UnboxInterface = unboxInterfaceRule.analyzer("unboxinterface", unboxInterface)

var unboxInterfaceRule = Rule{
	Code:  "unbox-interface",
	Title: "pass the value typed, not wrapped in an interface",
	Why: "A value that is no pointer is copied to the heap when it becomes an interface, whether or not anybody looks " +
		"at it: the arguments of an assertion's message are paid for each time that it holds.",
	Before: "assert(n <= max, \"%d entries, limit %d\", n, max)",
	After:  "if n > max {\n\tpanic(fmt.Sprintf(\"%d entries, limit %d\", n, max))\n}",
	Silent: "all arguments are constants, pointers, interfaces or single bytes; the call stands on a branch that failed.",
}

func unboxInterface(s *source) {
	s.each(s.checkAssertCall, (*ast.CallExpr)(nil))
	s.eachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		if s.boxes(call.Args[1]) {
			s.report(call, "heap.%s boxes each element in an interface: keep the heap in a slice of its own type",
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
	if !ok || len(call.Args) < 3 || call.Ellipsis.IsValid() || s.isConstant(call.Args[0]) || !isAssertion(fn.Signature()) {
		return
	}
	for _, arg := range call.Args[2:] {
		if s.boxes(arg) && !s.cold(c) {
			s.report(call, "%s is boxed for the message even when the condition holds: test the condition here, call %s when it fails",
				brief(arg), fn.Name())
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
	return ok && cond.Kind() == types.Bool && isString(p.At(1).Type()) && types.IsInterface(rest) &&
		rest.Underlying().(*types.Interface).Empty()
}

// checkSorts looks at sorting through an interface or by reflection.
func (s *source) checkSorts() {
	s.eachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		better := map[string]string{"Slice": "SortFunc", "SliceStable": "SortStableFunc"}[name]
		if s.since(c, "go1.21") && s.boxes(call.Args[0]) {
			s.report(call, "sort.%s boxes the slice and swaps by reflection: slices.%s does neither", name, better)
		}
	}, "sort.Slice", "sort.SliceStable")
	s.eachCall(func(c inspector.Cursor, call *ast.CallExpr) {
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		better := map[string]string{"Sort": "SortFunc", "Stable": "SortStableFunc"}[name]
		_, isSlice := s.TypesInfo.TypeOf(call.Args[0]).Underlying().(*types.Slice)
		if isSlice && s.since(c, "go1.21") {
			s.report(call, "sort.%s boxes the slice in an interface: slices.%s does not", name, better)
		}
	}, "sort.Sort", "sort.Stable")
}

// checkBinary looks at single numbers sent through encoding/binary's reflection.
func (s *source) checkBinary() {
	s.eachCall(func(_ inspector.Cursor, call *ast.CallExpr) {
		t := s.TypesInfo.TypeOf(call.Args[2])
		name := call.Fun.(*ast.SelectorExpr).Sel.Name
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		b, ok := t.Underlying().(*types.Basic)
		if !ok || b.Info()&types.IsInteger == 0 || s.sizeof(t) < 2 {
			return
		}
		size := strings.TrimLeft(b.Name(), "uint")
		how := "append it with AppendUint" + size + " of the byte order and write the bytes"
		if name == "Read" {
			how = "read the bytes into an array that is kept and call Uint" + size + " of the byte order"
		}
		s.report(call, "binary.%s boxes one number and allocates a buffer for it: %s", name, how)
	}, "encoding/binary.Write", "encoding/binary.Read")
}
