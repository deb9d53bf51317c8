package holder

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// ByValue is the name of the unexported field, by the place of its declaration, that could hold an object itself in place of
// a pointer: each owner gets a new object where it is made and keeps it, nothing but its fields and methods is used through
// the field, and no owner is copied. It is "" for others.
func ByValue(src *source.Program, place string) string {
	owner, field := find(src, place)
	if owner == nil || field.Exported() || !ofOwn(field.Type(), owner) {
		return ""
	}
	for _, n := range src.Structs() {
		for f := range n.Underlying().(*types.Struct).Fields() {
			if types.Identical(f.Type(), owner) {
				return "" // copied with its own owner, maybe
			}
		}
	}
	made := false
	for fn := range src.Functions() {
		for in := range flow.Instructions(fn) {
			gives, spoils := givesObject(in, owner, field)
			if spoils {
				return ""
			}
			made = made || gives
		}
	}
	if !made {
		return ""
	}
	return field.Name()
}

// givesObject reports whether an instruction is the field of a new owner that gets a new object, and whether it is one after
// which the field needs a pointer.
func givesObject(in ssa.Instruction, owner *types.Named, field *types.Var) (gives, spoils bool) {
	if v, ok := in.(ssa.Value); ok && types.Identical(v.Type(), owner) {
		return false, true // a copy of an owner shares the object
	}
	switch in := in.(type) {
	case *ssa.IndexAddr: // an owner is moved when the slice grows
		return false, types.Identical(flow.Elem(in.Type()), owner)
	case *ssa.Alloc: // an owner without an object
		return false, types.Identical(flow.Elem(in.Type()), owner) && !isGiven(in, field)
	case *ssa.FieldAddr:
		if flow.Field(in) != field {
			return false, false
		}
		for _, use := range *in.Referrers() {
			switch use := use.(type) {
			case *ssa.DebugRef:
			case *ssa.Store:
				gives, spoils = true, spoils || !givesNew(use, in)
			case *ssa.UnOp:
				spoils = spoils || use.Op != token.MUL || !onlyThrough(use)
			default:
				spoils = true
			}
		}
	}
	return gives, spoils
}

// ofOwn reports whether a type is a pointer to a struct that does not hold an owner in turn.
func ofOwn(t types.Type, owner *types.Named) bool {
	at, ok := t.Underlying().(*types.Pointer)
	if !ok || types.Identical(at.Elem(), owner) {
		return false
	}
	_, ok = at.Elem().Underlying().(*types.Struct)
	return ok
}

// givesNew reports whether a new owner gets a new object.
func givesNew(s *ssa.Store, field *ssa.FieldAddr) bool {
	owner, ok := field.X.(*ssa.Alloc)
	object, made := s.Val.(*ssa.Alloc)
	if !ok || !made || s.Addr != ssa.Value(field) || owner.Block() != s.Block() || object.Block() != s.Block() {
		return false
	}
	return !slices.ContainsFunc(*object.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.FieldAddr:
			return false
		case *ssa.Store:
			return in != s && in.Addr != ssa.Value(object)
		}
		return true
	})
}

// isGiven reports whether a new owner gets an object in its field.
func isGiven(owner *ssa.Alloc, field *types.Var) bool {
	return slices.ContainsFunc(*owner.Referrers(), func(in ssa.Instruction) bool {
		at, ok := in.(*ssa.FieldAddr)
		return ok && flow.Field(at) == field && slices.ContainsFunc(*at.Referrers(), func(in ssa.Instruction) bool { _, set := in.(*ssa.Store); return set })
	})
}

// onlyThrough reports whether a pointer is used for nothing but what it points to: fields, and calls of methods.
func onlyThrough(v ssa.Value) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.FieldAddr:
			return false
		case ssa.CallInstruction:
			c := in.Common()
			return c.IsInvoke() || c.StaticCallee() == nil || c.StaticCallee().Signature.Recv() == nil || len(c.Args) == 0 || c.Args[0] != v ||
				slices.Contains(c.Args[1:], v)
		}
		return true
	})
}
