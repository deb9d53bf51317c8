package flow

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Reads reports whether a function does more with a value than to fill it, to make it a part of another, and to return it.
func Reads(v ssa.Value) bool { return reads(v, map[ssa.Value]bool{}) }

func reads(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || v.Referrers() == nil {
		return false
	}
	seen[v] = true
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.Return:
			return false
		case *ssa.Phi, *ssa.Extract, *ssa.Slice, *ssa.ChangeType, *ssa.MakeInterface, *ssa.FieldAddr, *ssa.IndexAddr:
			return reads(in.(ssa.Value), seen)
		case *ssa.Store:
			return in.Val == v && reads(base(in.Addr), seen)
		case *ssa.MapUpdate:
			return in.Map != v && reads(in.Map, seen)
		case *ssa.UnOp:
			a, local := v.(*ssa.Alloc)
			return in.Op != token.MUL || !local || a.Heap || reads(in, seen)
		case *ssa.Call:
			b, ok := in.Call.Value.(*ssa.Builtin)
			return !ok || b.Name() != "copy" && b.Name() != "len" && (b.Name() != "append" || in.Call.Args[0] != v || reads(in, seen))
		}
		return true
	})
}

// base is the variable or object that an address is in.
func base(addr ssa.Value) ssa.Value {
	for {
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			addr = a.X
		default:
			return addr
		}
	}
}
