package flow

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// mostPassed is how many functions a value is followed through, from one to the next.
const mostPassed = 3

// keeps reports whether a called function stores an argument, or hands it to one that does.
func keeps(c *ssa.CallCommon, v ssa.Value) bool {
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		return false // a part of it was read, and the call has that part
	}
	return keepsWithin(c, v, mostPassed)
}

func keepsWithin(c *ssa.CallCommon, v ssa.Value, most int) bool {
	callee := c.StaticCallee()
	if callee == nil || most == 0 {
		return false
	}
	for i, a := range c.Args {
		if a == v && i < len(callee.Params) && isStored(callee.Params[i], most-1) {
			return true
		}
	}
	return false
}

// isStored reports whether a function stores a value, or hands it to a function that does.
func isStored(v ssa.Value, most int) bool {
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.Store:
			return in.Val == v
		case *ssa.MapUpdate:
			return in.Key == v || in.Value == v
		case *ssa.Send:
			return in.X == v
		case *ssa.MakeClosure:
			return true
		case *ssa.MakeInterface, *ssa.ChangeType:
			return isStored(in.(ssa.Value), most)
		case *ssa.Call:
			return keepsWithin(&in.Call, v, most)
		}
		return false
	})
}
