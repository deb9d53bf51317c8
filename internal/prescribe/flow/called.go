package flow

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Argument is the i-th parameter's value in a call, receivers first.
func Argument(c *ssa.CallCommon, i int) ssa.Value {
	if c.IsInvoke() {
		if i == 0 {
			return c.Value
		}
		i--
	}
	if i < len(c.Args) {
		return c.Args[i]
	}
	return nil
}

// Origin is the function that an instance of a generic one was made of.
func Origin(fn *ssa.Function) *ssa.Function {
	if o := fn.Origin(); o != nil {
		return o
	}
	return fn
}

// NameOf is a function as pprof spells it, without type arguments.
func NameOf(fn *ssa.Function) string {
	fn = Origin(fn)
	if obj, ok := fn.Object().(*types.Func); ok {
		return Spelling(obj)
	}
	return strings.ReplaceAll(fn.String(), "$", ".func")
}
