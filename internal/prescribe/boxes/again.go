package boxes

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/once"
)

// before reports whether the function makes an interface value of the same type of the same value before, which is none of
// those of the line, and does the same with both: then both are on the heap, or none is.
func before(boxed *ssa.MakeInterface, line []*ssa.MakeInterface) bool {
	for _, in := range *boxed.X.Referrers() {
		other, ok := in.(*ssa.MakeInterface)
		if ok && !slices.Contains(line, other) && types.Identical(other.Type(), boxed.Type()) && precedes(other, boxed) && alike(other, boxed) {
			return true
		}
	}
	return false
}

// precedes reports whether an instruction runs before another one each time.
func precedes(first, second ssa.Instruction) bool {
	if first.Block() != second.Block() {
		return first.Block().Dominates(second.Block())
	}
	return slices.Index(first.Block().Instrs, first) < slices.Index(first.Block().Instrs, second)
}

// alike reports whether two interface values are put into elements or fields alone, or are arguments of the same function.
func alike(a, b *ssa.MakeInterface) bool {
	use := func(boxed *ssa.MakeInterface) (callee any, ok bool) {
		for _, in := range *boxed.Referrers() {
			switch in := in.(type) {
			case *ssa.DebugRef:
			case *ssa.Store:
				if at, local := in.Addr.(*ssa.Alloc); local && !at.Heap || in.Val != ssa.Value(boxed) {
					return nil, false
				}
				callee, ok = nil, true
			case *ssa.Call:
				callee, ok = in.Call.Value, true
				if in.Call.IsInvoke() {
					callee = in.Call.Method
				}
			default:
				return nil, false
			}
		}
		return callee, ok
	}
	of, ok := use(a)
	as, too := use(b)
	return ok && too && of == as
}

// settled is the field that a value is read from, if its owners alone, where they are made, set it.
func (p *program) settled(v ssa.Value) (s finding.Settled) {
	field, by := once.Settled(p.functions, v)
	if field == nil || types.IsInterface(field.Type()) {
		return s
	}
	return finding.Settled{Name: field.Name(), By: by}
}
