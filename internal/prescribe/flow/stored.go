package flow

import (
	"go/types"
	"iter"

	"golang.org/x/tools/go/ssa"
)

// Slot is the field or variable of the package behind an address, if its name is not exported; nil for others.
func Slot(addr ssa.Value) types.Object {
	var slot types.Object
	switch a := addr.(type) {
	case *ssa.FieldAddr:
		slot = Field(a).Origin()
	case *ssa.Global:
		slot = a.Object()
	}
	if slot == nil || slot.Exported() {
		return nil
	}
	return slot
}

// StoredFunctions has what functions store in slots of function types that they use, but for those that may be set in other
// ways.
func StoredFunctions(all iter.Seq[*ssa.Function]) map[types.Object][]ssa.Value {
	stored, open := map[types.Object][]ssa.Value{}, map[types.Object]bool{}
	for fn := range all {
		for in := range Instructions(fn) {
			if _, names := in.(*ssa.DebugRef); names {
				continue // a note on an identifier of the source
			}
			for _, v := range in.Operands(nil) {
				slot := functionSlot(*v)
				if slot == nil {
					continue
				}
				values := stored[slot]
				store, _ := in.(*ssa.Store)
				_, load := in.(*ssa.UnOp)
				switch {
				case load:
					stored[slot] = values // nothing, of one that is only read
				case store != nil && store.Addr == *v:
					stored[slot] = append(values, store.Val)
				default:
					open[slot] = true
				}
			}
		}
	}
	for slot := range open {
		delete(stored, slot)
	}
	return stored
}

func functionSlot(v ssa.Value) types.Object {
	slot := Slot(v)
	if slot == nil {
		return nil
	}
	if _, ok := slot.Type().Underlying().(*types.Signature); !ok {
		return nil
	}
	return slot
}
