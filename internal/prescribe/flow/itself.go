package flow

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// OfItself reports whether a value is the result of a call that was handed one of some values, or the same part of the
// same text or slice.
func OfItself(v ssa.Value, with ...ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	return ok && slices.ContainsFunc(c.Call.Args, func(a ssa.Value) bool {
		return slices.ContainsFunc(with, func(w ssa.Value) bool { return sameValue(a, w) })
	})
}

func sameValue(a, b ssa.Value) bool {
	if a == b {
		return true
	}
	x, ok := a.(*ssa.Slice)
	y, is := b.(*ssa.Slice)
	return ok && is && sameValue(x.X, y.X) && sameBound(x.Low, y.Low) && sameBound(x.High, y.High)
}

func sameBound(a, b ssa.Value) bool {
	c, ok := a.(*ssa.Const)
	d, is := b.(*ssa.Const)
	return a == b || ok && is && c.Int64() == d.Int64()
}
