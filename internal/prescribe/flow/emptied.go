package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Emptied are the fields whose arrays a store gives up: it sets a slice to nil or a literal without elements, or a bytes.Buffer to
// an empty one, or all fields of what a pointer leads to, and nothing has the array of before or puts it back. The store is
// of no array bound.
func Emptied(st *ssa.Store) (fields []*types.Var) {
	if field := SetField(st.Addr); field != nil {
		_, slice := field.Type().Underlying().(*types.Slice)
		if !(slice && EmptySlice(st.Val)) && !EmptyBuffer(st.Val) || ReadBefore(st) || Bounds(st) {
			return nil
		}
		return []*types.Var{field}
	}
	all, ok := st.Val.Type().Underlying().(*types.Struct)
	if !ok || !isLoaded(st.Addr) {
		return nil
	}
	for i := range all.NumFields() {
		if _, slice := all.Field(i).Type().Underlying().(*types.Slice); slice && leavesOut(st.Val, i) && !touches(st, i) {
			fields = append(fields, all.Field(i))
		}
	}
	return fields
}

// isLoaded reports whether an address is a parameter, or read from somewhere, so that what it leads to was there before.
func isLoaded(addr ssa.Value) bool {
	switch addr := addr.(type) {
	case *ssa.Parameter:
		return true
	case *ssa.UnOp:
		return addr.Op == token.MUL
	}
	return false
}

// leavesOut reports whether a struct has nothing in a field: it is the zero value, or a literal without that field.
func leavesOut(v ssa.Value, field int) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return v.Value == nil
	case *ssa.UnOp:
		literal, ok := v.X.(*ssa.Alloc)
		if !ok || literal.Comment != "complit" {
			return false
		}
		for _, in := range *literal.Referrers() {
			if f, ok := in.(*ssa.FieldAddr); ok && f.Field == field {
				return false
			}
		}
		return true
	}
	return false
}

// touches reports whether the function of a store of a whole struct reads a field before it, other than for its length or its
// elements, or sets the field itself.
func touches(st *ssa.Store, field int) bool {
	path := pathOf(st.Addr)
	for in := range Instructions(st.Parent()) {
		f, ok := in.(*ssa.FieldAddr)
		if !ok || f.Field != field || pathOf(f.X) != path {
			continue
		}
		for _, use := range *f.Referrers() {
			switch use := use.(type) {
			case *ssa.DebugRef:
			case *ssa.UnOp:
				if Before(use, st) && !staysHere(use) {
					return true
				}
			default:
				return true
			}
		}
	}
	return false
}
