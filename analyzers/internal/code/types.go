package code

import (
	"go/ast"
	"go/types"
)

// IsString reports whether t is a string type; nil is none.
func IsString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// IsInteger reports whether t is an integer type; nil is none.
func IsInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// IsBytes reports whether t is a slice of bytes.
func IsBytes(t types.Type) bool { return isSliceOf(t, types.Byte) }

// IsRunes reports whether t is a slice of runes.
func IsRunes(t types.Type) bool { return isSliceOf(t, types.Rune) }

func isSliceOf(t types.Type, elem types.BasicKind) bool {
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := slice.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == elem
}

// IsNamed reports whether t is the named type pkg.name.
func IsNamed(t types.Type, pkg, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	obj := named.Obj()
	return obj.Pkg() != nil && obj.Pkg().Path() == pkg && obj.Name() == name
}

// IsPointerTo reports whether t is a pointer to the named type pkg.name.
func IsPointerTo(t types.Type, pkg, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && IsNamed(p.Elem(), pkg, name)
}

func isError(t types.Type) bool {
	return t != nil && types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

// IsTypeParam reports whether t is a type parameter.
func IsTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// HasMethod reports whether t, or a pointer to it, has a method of that name.
func HasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// Plain reports whether fmt prints a value of type t by its kind alone.
func Plain(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if HasMethod(t, name) {
			return false
		}
	}
	return !IsTypeParam(t)
}

// Boxes reports whether putting e into an interface needs an allocation when
// the interface outlives the caller's frame. Constants are laid out by the
// compiler, single bytes come from a table of the runtime, and what is a pointer
// at heart is stored as it is.
func (s *Source) Boxes(e ast.Expr) bool {
	tv := s.TypesInfo.Types[e]
	if tv.Value != nil || tv.Type == nil || tv.IsNil() || IsTypeParam(tv.Type) {
		return false
	}
	return !types.IsInterface(tv.Type) && !PointerShaped(tv.Type) && s.Sizeof(tv.Type) > 1
}

// PointerShaped reports whether an interface holds a t without allocating: it is one pointer.
func PointerShaped(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Chan, *types.Map, *types.Signature:
		return true
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Struct:
		return t.NumFields() == 1 && PointerShaped(t.Field(0).Type())
	case *types.Array:
		return t.Len() == 1 && PointerShaped(t.Elem())
	}
	return false
}

// Sizeof is the size of t in bytes, or 0 if that depends on a type argument.
func (s *Source) Sizeof(t types.Type) int64 {
	if HasTypeParam(t, 0) {
		return 0
	}
	return s.TypesSizes.Sizeof(t)
}

// HasTypeParam reports whether the layout of t depends on a type parameter.
func HasTypeParam(t types.Type, depth int) bool {
	if IsTypeParam(t) || depth > 20 {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for f := range t.Fields() {
			if HasTypeParam(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Array:
		return HasTypeParam(t.Elem(), depth+1)
	}
	return false
}

// writer reports whether t has the method Write of io.Writer.
func IsWriter(t types.Type) bool { return t != nil && HasMethod(t, "Write") }

// Param is the type of the i-th argument's parameter, following variadic ones.
func Param(sig *types.Signature, i int) types.Type {
	n := sig.Params().Len()
	if sig.Variadic() && i >= n-1 {
		if slice, ok := sig.Params().At(n - 1).Type().(*types.Slice); ok {
			return slice.Elem()
		}
	}
	if i >= n {
		return nil
	}
	return sig.Params().At(i).Type()
}
