package analyzers

import (
	"go/ast"
	"go/types"
)

func isString(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func isBytes(t types.Type) bool { return isSliceOf(t, types.Byte) }

func isRunes(t types.Type) bool { return isSliceOf(t, types.Rune) }

func isSliceOf(t types.Type, elem types.BasicKind) bool {
	slice, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := slice.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == elem
}

// isNamed reports whether t is the named type pkg.name.
func isNamed(t types.Type, pkg, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return false
	}
	obj := named.Obj()
	return obj.Pkg() != nil && obj.Pkg().Path() == pkg && obj.Name() == name
}

// isPointerTo reports whether t is a pointer to the named type pkg.name.
func isPointerTo(t types.Type, pkg, name string) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), pkg, name)
}

func isError(t types.Type) bool {
	return t != nil && types.Implements(t, types.Universe.Lookup("error").Type().Underlying().(*types.Interface))
}

func isTypeParam(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.TypeParam)
	return ok
}

// hasMethod reports whether t, or a pointer to it, has a method of that name.
func hasMethod(t types.Type, name string) bool {
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
	_, ok := obj.(*types.Func)
	return ok
}

// plain reports whether fmt prints a value of type t by its kind alone.
func plain(t types.Type) bool {
	for _, name := range []string{"String", "Error", "Format", "GoString"} {
		if hasMethod(t, name) {
			return false
		}
	}
	return !isTypeParam(t)
}

// boxes reports whether putting e into an interface needs an allocation when
// the interface outlives the caller's frame. Constants are laid out by the
// compiler, single bytes come from a table of the runtime, and what is a pointer
// at heart is stored as it is.
func (s *source) boxes(e ast.Expr) bool {
	tv := s.TypesInfo.Types[e]
	if tv.Value != nil || tv.Type == nil || tv.IsNil() || isTypeParam(tv.Type) {
		return false
	}
	return !types.IsInterface(tv.Type) && !pointerShaped(tv.Type) && s.sizeof(tv.Type) > 1
}

func pointerShaped(t types.Type) bool {
	switch t := t.Underlying().(type) {
	case *types.Pointer, *types.Chan, *types.Map, *types.Signature:
		return true
	case *types.Basic:
		return t.Kind() == types.UnsafePointer
	case *types.Struct:
		return t.NumFields() == 1 && pointerShaped(t.Field(0).Type())
	case *types.Array:
		return t.Len() == 1 && pointerShaped(t.Elem())
	}
	return false
}

// sizeof is the size of t in bytes, or 0 if that depends on a type argument.
func (s *source) sizeof(t types.Type) int64 {
	if hasTypeParam(t, 0) {
		return 0
	}
	return s.TypesSizes.Sizeof(t)
}

// hasTypeParam reports whether the layout of t depends on a type parameter.
func hasTypeParam(t types.Type, depth int) bool {
	if isTypeParam(t) || depth > 20 {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Struct:
		for f := range t.Fields() {
			if hasTypeParam(f.Type(), depth+1) {
				return true
			}
		}
	case *types.Array:
		return hasTypeParam(t.Elem(), depth+1)
	}
	return false
}

// writer reports whether t has the method Write of io.Writer.
func isWriter(t types.Type) bool { return t != nil && hasMethod(t, "Write") }

// param is the type of the i-th argument's parameter, following variadic ones.
func param(sig *types.Signature, i int) types.Type {
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
