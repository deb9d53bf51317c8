package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// EmptySlice reports whether a value is a slice without memory: nil, or a literal without elements.
func EmptySlice(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return v.IsNil()
	case *ssa.Slice:
		array, ok := v.X.(*ssa.Alloc)
		if !ok {
			return false
		}
		t, ok := array.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		return ok && t.Len() == 0
	}
	return false
}

// EmptyBuffer reports whether a value is a bytes.Buffer without contents. A strings.Builder is none:
// its Reset drops the memory, too.
func EmptyBuffer(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil && types.TypeString(c.Type(), nil) == "bytes.Buffer"
}

// SetField is the field that a store sets, where what holds it was not made in the function; nil for others.
func SetField(addr ssa.Value) *types.Var {
	f, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	if _, fresh := f.X.(*ssa.Alloc); fresh {
		return nil
	}
	return Field(f)
}

// ReadBefore reports whether a function reads a field before it sets it, other than for its length or its elements: then
// somebody else may have the memory of the field.
func ReadBefore(st *ssa.Store) bool {
	path := pathOf(st.Addr)
	for in := range Instructions(st.Parent()) {
		load, ok := in.(*ssa.UnOp)
		if !ok || load.Op != token.MUL || SetField(load.X) == nil || pathOf(load.X) != path || !Before(load, st) {
			continue
		}
		if !staysHere(load) {
			return true
		}
	}
	return false
}

// pathOf names the field that an address is of, from the variable that leads to it.
func pathOf(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return pathOf(v.X) + "." + strconv.Itoa(v.Field)
	case *ssa.UnOp:
		return pathOf(v.X) + "*"
	}
	return v.Name()
}

// staysHere reports whether a function asks a slice only for its length and its elements, compares it with nil, or
// clears it.
func staysHere(slice ssa.Value) bool {
	return !slices.ContainsFunc(*slice.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.Call:
			return !IsBuiltin(in, "len", "cap", "clear")
		case *ssa.BinOp:
			return in.Op != token.EQL && in.Op != token.NEQ
		case *ssa.IndexAddr:
			return !onlyUsed(in)
		case *ssa.DebugRef:
			return false
		}
		return true
	})
}

// onlyUsed reports whether a function reads and writes what an address is of, or hands the address to functions of
// this module that do not keep it.
func onlyUsed(addr ssa.Value) bool {
	return !slices.ContainsFunc(*addr.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.UnOp:
			return false
		case *ssa.Store:
			return in.Addr != addr
		case *ssa.FieldAddr:
			return !onlyUsed(in)
		case *ssa.Call:
			callee := in.Call.StaticCallee()
			return callee == nil || callee.Blocks == nil || callee.Signature.Results().Len() > 0 || keepsWithin(&in.Call, addr, mostPassed)
		}
		return true
	})
}
