package flow

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// SameEachTurn reports whether a closure captures only the receiver of its function, or is made in a loop and captures
// only variables from outside of that.
func SameEachTurn(v ssa.Value) bool {
	mc, ok := v.(*ssa.MakeClosure)
	if !ok {
		return false
	}
	at := mc.Block()
	again := func(b *ssa.BasicBlock) bool {
		seen := map[*ssa.BasicBlock]bool{}
		return slices.ContainsFunc(at.Succs, func(next *ssa.BasicBlock) bool { return follows(next, b, seen) })
	}
	receivers, outer := true, again(at)
	for _, b := range mc.Bindings {
		in, made := b.(ssa.Instruction)
		receivers = receivers && holdsReceiver(b)
		outer = outer && !(made && again(in.Block()))
	}
	return receivers || outer
}

// holdsReceiver reports whether a variable holds the receiver of its function, and nothing else.
func holdsReceiver(v ssa.Value) bool {
	a, ok := v.(*ssa.Alloc)
	if !ok || a.Parent().Signature.Recv() == nil {
		return false
	}
	for _, in := range *a.Referrers() {
		if st, ok := in.(*ssa.Store); ok && st.Addr == a && st.Val != a.Parent().Params[0] {
			return false
		}
	}
	return a.Type().Underlying().(*types.Pointer).Elem() == a.Parent().Params[0].Type()
}

// follows reports whether a block is another or leads to it.
func follows(from, to *ssa.BasicBlock, seen map[*ssa.BasicBlock]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(from.Succs, func(next *ssa.BasicBlock) bool { return follows(next, to, seen) })
}

// HandsOn reports whether a function that is called with a slice does more with it than to measure it and to get at its
// elements.
func HandsOn(callee *ssa.Function, call *ssa.CallCommon, slice ssa.Value) bool {
	i := slices.Index(call.Args, slice)
	if i < 0 || i >= len(callee.Params) {
		return true
	}
	return slices.ContainsFunc(*callee.Params[i].Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.IndexAddr:
			return false
		case *ssa.Call:
			b, ok := in.Call.Value.(*ssa.Builtin)
			return !ok || b.Name() != "len"
		}
		return true
	})
}

// Drops reports whether a caller uses none of some results of a call. Each result has a bit, the first one the lowest.
func Drops(call ssa.CallInstruction, results uint64) bool {
	c, ok := call.(*ssa.Call)
	if !ok {
		return true // a goroutine's or a deferred call's
	}
	return !slices.ContainsFunc(*c.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.Extract:
			return results&(1<<in.Index) != 0 && used(in)
		}
		return true
	})
}

// used reports whether an instruction has a value as its operand.
func used(v ssa.Value) bool {
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool { _, debug := in.(*ssa.DebugRef); return !debug })
}
