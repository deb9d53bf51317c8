package boxes

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// holding names the slice or map that gets a boxed value, if its elements could have the boxed type: it gets values of
// this type alone, and each element that is read is asserted to be of this type. "" for others.
func (p *program) holding(boxed *ssa.MakeInterface) string {
	w := &web{program: p, elem: boxed.X.Type(), seen: map[ssa.Value]bool{}, fields: map[*types.Var]bool{}}
	for _, in := range *boxed.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.Store:
			if at, ok := in.Addr.(*ssa.IndexAddr); !ok || in.Val != ssa.Value(boxed) || !w.container(at.X) {
				return ""
			}
		case *ssa.MapUpdate:
			if in.Key == ssa.Value(boxed) || !w.container(in.Map) {
				return ""
			}
		default:
			return ""
		}
	}
	if !w.asserted {
		return ""
	}
	return w.name
}

// web has the values that one slice or map has in the course of functions.
type web struct {
	*program
	elem     types.Type // of the boxed values
	seen     map[ssa.Value]bool
	fields   map[*types.Var]bool
	name     string
	asserted bool // an element is read, and asserted to be of the type
}

// container reports whether all is seen that is done with a value, and that it comes from.
func (w *web) container(v ssa.Value) bool {
	if w.seen[v] {
		return true
	}
	w.seen[v] = true
	if !w.origin(v) {
		return false
	}
	return v.Referrers() == nil || !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool { return !w.use(v, in) })
}

func (w *web) origin(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Const, *ssa.MakeSlice, *ssa.MakeMap:
		return true
	case *ssa.Alloc:
		_, array := v.Type().(*types.Pointer).Elem().Underlying().(*types.Array)
		return array
	case *ssa.Phi:
		return !slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { return !w.container(e) })
	case *ssa.Slice:
		return w.container(v.X)
	case *ssa.Call:
		return flow.IsBuiltin(v, "append") && w.container(v.Call.Args[0]) && w.container(v.Call.Args[1])
	case *ssa.UnOp:
		return v.Op == token.MUL && w.variable(v.X)
	}
	return false
}

func (w *web) use(v ssa.Value, in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.DebugRef:
		if o, ok := in.Object().(*types.Var); ok && w.name == "" {
			w.name = o.Name()
		}
		return true
	case *ssa.Phi:
		return w.container(in)
	case *ssa.Slice:
		return w.container(in)
	case *ssa.IndexAddr:
		return !slices.ContainsFunc(*in.Referrers(), func(use ssa.Instruction) bool { return !w.element(in, use) })
	case *ssa.Lookup:
		return in.X == v && w.found(in, in.CommaOk, 0)
	case *ssa.Range:
		return !slices.ContainsFunc(*in.Referrers(), func(next ssa.Instruction) bool {
			n, ok := next.(*ssa.Next)
			return !ok || !w.found(n, true, 2)
		})
	case *ssa.MapUpdate:
		return in.Map == v && in.Key != v && w.put(in.Value)
	case *ssa.Call:
		return flow.IsBuiltin(in, "len", "cap", "delete", "clear") || flow.IsBuiltin(in, "append") && w.container(in)
	case *ssa.Store:
		return in.Val == v && w.variable(in.Addr)
	case *ssa.BinOp:
		return true // with nil
	}
	return false
}

// variable reports whether all is seen that is done with a variable, a local one or a field.
func (w *web) variable(at ssa.Value) bool {
	switch at := at.(type) {
	case *ssa.Alloc:
		return w.seen[at] || w.cell(at)
	case *ssa.FieldAddr:
		field := flow.Field(at)
		if w.fields[field] {
			return true
		}
		if w.fields[field] = true; field.Exported() {
			return false
		}
		w.name = field.Name()
		for fn := range w.functions {
			for in := range flow.Instructions(fn) {
				if f, ok := in.(*ssa.FieldAddr); ok && flow.Field(f) == field && !w.cell(f) {
					return false
				}
			}
		}
		return true
	}
	return false
}

// cell reports whether the values of a variable are only read and set.
func (w *web) cell(at ssa.Value) bool {
	w.seen[at] = true
	return !slices.ContainsFunc(*at.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.UnOp:
			return !w.container(in)
		case *ssa.Store:
			return in.Addr != at || !w.container(in.Val)
		}
		return true
	})
}

// element is the answer for one use of an element's address.
func (w *web) element(at *ssa.IndexAddr, use ssa.Instruction) bool {
	switch use := use.(type) {
	case *ssa.DebugRef:
		return true
	case *ssa.Store:
		return use.Addr == ssa.Value(at) && w.put(use.Val)
	case *ssa.UnOp:
		return w.taken(use)
	}
	return false
}

// put reports whether a value that the container gets is of the type, or an element of the container.
func (w *web) put(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return types.Identical(v.X.Type(), w.elem)
	case *ssa.UnOp:
		at, ok := v.X.(*ssa.IndexAddr)
		return ok && v.Op == token.MUL && w.container(at.X)
	}
	return false
}

// found reports whether the values that a look-up or a turn of a loop finds are only asserted; in a tuple they have a place.
func (w *web) found(v ssa.Value, tuple bool, place int) bool {
	if !tuple {
		return w.taken(v)
	}
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		e, ok := in.(*ssa.Extract)
		return ok && e.Index == place && !w.taken(e)
	})
}

// taken reports whether an element is only asserted to be of the type, or put into the container again.
func (w *web) taken(v ssa.Value) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.TypeAssert:
			w.asserted = true
			return !types.Identical(in.AssertedType, w.elem)
		case *ssa.Store:
			at, ok := in.Addr.(*ssa.IndexAddr)
			return !ok || in.Val != v || !w.container(at.X)
		}
		return true
	})
}
