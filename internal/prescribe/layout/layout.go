// Package layout computes sizes, padding and pointers of types.
package layout

import (
	"cmp"
	"go/types"
	"reflect"
	"slices"
)

// PointerMethods reports whether a type has methods that only a pointer to it has.
func PointerMethods(t types.Type) bool {
	return types.NewMethodSet(types.NewPointer(t)).Len() > types.NewMethodSet(t).Len()
}

// Packed is the size of a struct with its fields in order of alignment and
// size, largest first.
func Packed(sizes types.Sizes, st *types.Struct) int64 {
	var fields []*types.Var
	for f := range st.Fields() {
		fields = append(fields, f)
	}
	slices.SortStableFunc(fields, func(a, b *types.Var) int {
		return cmp.Or(cmp.Compare(sizes.Alignof(b.Type()), sizes.Alignof(a.Type())), cmp.Compare(sizes.Sizeof(b.Type()), sizes.Sizeof(a.Type())))
	})
	// A zero-size field at the end is padded, so that its address stays inside.
	if i := slices.IndexFunc(fields, func(f *types.Var) bool { return sizes.Sizeof(f.Type()) == 0 }); i > 0 {
		fields = append(fields[i:], fields[:i]...)
	}
	return SizeOf(sizes, types.NewStruct(fields, nil))
}

// Generated reports whether the tags of a struct's fields show that protoc made it, whose code counts on the order of the
// fields.
func Generated(st *types.Struct) bool {
	for i := range st.NumFields() {
		if _, ok := reflect.StructTag(st.Tag(i)).Lookup("protobuf"); ok {
			return true
		}
	}
	return false
}

// Public reports whether other packages may write a struct's literals without names: it and one of its fields are exported.
func Public(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || !n.Obj().Exported() {
		return false
	}
	st, ok := n.Underlying().(*types.Struct)
	return ok && slices.ContainsFunc(slices.Collect(st.Fields()), (*types.Var).Exported)
}

// SizeOf is a type's size in bytes; 0 for one that depends on type parameters.
func SizeOf(s types.Sizes, t types.Type) (size int64) {
	defer func() {
		if recover() != nil { // a type parameter has no size
			size = 0
		}
	}()
	if s == nil {
		return 0
	}
	return s.Sizeof(t)
}

// HasPointers reports whether values of a type hold pointers.
func HasPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.String || u.Kind() == types.UnsafePointer
	case *types.Array:
		return u.Len() > 0 && HasPointers(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if HasPointers(f.Type()) {
				return true
			}
		}
		return false
	}
	return true
}
