// Package once knows values that are made each time and would be the same each time, or that are asked only once, from SSA
// form alone.
package once

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Settled is the unexported field that a value is read from, if functions set it only in owners that they make, and these
// functions, as pprof spells them; nil for others.
func Settled(all iter.Seq[*ssa.Function], v ssa.Value) (field *types.Var, by []string) {
	field, owner := read(v)
	if field == nil || field.Exported() {
		return nil, nil
	}
	for fn := range all {
		for in := range flow.Instructions(fn) {
			if st, ok := in.(*ssa.Store); ok && types.Identical(st.Val.Type(), flow.Elem(owner.Type())) && !isMade(st.Addr) {
				return nil, nil // all of an owner is set at once
			}
			f, ok := in.(*ssa.FieldAddr)
			if !ok || flow.Field(f) != field {
				continue
			}
			sets, elsewhere := setsOf(f)
			if elsewhere {
				return nil, nil
			}
			if obj, ok := fn.Object().(*types.Func); ok && sets {
				by = append(by, flow.Spelling(obj))
			}
		}
	}
	if len(by) == 0 {
		return nil, nil
	}
	return field, by
}

func isMade(v ssa.Value) bool { _, ok := v.(*ssa.Alloc); return ok }

// read is the field that a value is read from, and its owner; nil for others.
func read(v ssa.Value) (*types.Var, ssa.Value) {
	switch v := v.(type) {
	case *ssa.UnOp:
		if at, ok := v.X.(*ssa.FieldAddr); ok && v.Op == token.MUL {
			return flow.Field(at), at.X
		}
	case *ssa.Field:
		return v.X.Type().Underlying().(*types.Struct).Field(v.Field), v.X
	}
	return nil, nil
}

// setsOf reports whether a field is set in an owner that is made there, and whether anything else than reading is done with
// it.
func setsOf(f *ssa.FieldAddr) (sets, elsewhere bool) {
	for _, use := range *f.Referrers() {
		switch use := use.(type) {
		case *ssa.DebugRef, *ssa.UnOp:
		case *ssa.Store:
			made, ok := f.X.(*ssa.Alloc)
			sets, elsewhere = true, elsewhere || !ok || use.Addr != ssa.Value(f) || made.Block() != use.Block()
		default:
			elsewhere = true
		}
	}
	return sets, elsewhere
}

// Computed is a field that a text is made of, if it is made of constants and of settled fields of one owner alone, and the
// functions that set them; "" for others.
func Computed(all iter.Seq[*ssa.Function], fn *ssa.Function, n ast.Node) (field string, by []string) {
	if fn == nil {
		return "", nil
	}
	v := flow.Text(fn, n)
	if v == nil {
		return "", nil
	}
	c := &computing{all: all}
	if !c.value(v, mostDeep) || c.first == nil {
		return "", nil
	}
	return c.first.Name(), c.by
}

// mostDeep is how deep expressions are followed.
const mostDeep = 8

// computing looks at what a text is made of.
type computing struct {
	all   iter.Seq[*ssa.Function]
	owner ssa.Value
	first *types.Var
	by    []string
}

// value reports whether a value is made of constants and settled fields.
func (c *computing) value(v ssa.Value, deep int) bool {
	if deep == 0 {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const:
		return true
	case *ssa.UnOp, *ssa.Field:
		return c.field(v)
	case *ssa.BinOp:
		return v.Op == token.ADD && c.value(v.X, deep-1) && c.value(v.Y, deep-1)
	case *ssa.ChangeType:
		return c.value(v.X, deep-1)
	case *ssa.MakeInterface:
		b, ok := v.X.Type().(*types.Basic)
		return ok && b.Info()&types.IsConstType != 0 && c.value(v.X, deep-1)
	case *ssa.Slice:
		return c.arguments(v, deep-1)
	case *ssa.Call:
		callee := v.Call.StaticCallee()
		if callee == nil || callee.Signature.Recv() != nil || !flow.Pure(flow.NameOf(callee)) {
			return false
		}
		return !slices.ContainsFunc(v.Call.Args, func(a ssa.Value) bool { return !c.value(a, deep-1) })
	}
	return false
}

// field reports whether a value is read from a settled field of the owner.
func (c *computing) field(v ssa.Value) bool {
	_, owner := read(v)
	field, by := Settled(c.all, v)
	if field == nil || c.owner != nil && c.owner != owner {
		return false
	}
	if _, basic := field.Type().Underlying().(*types.Basic); !basic {
		return false
	}
	if c.owner = owner; c.first == nil {
		c.first = field
	}
	c.by = append(c.by, by...)
	return true
}

// arguments reports whether a slice is that of a call's arguments, all of which are made so.
func (c *computing) arguments(s *ssa.Slice, deep int) bool {
	array, ok := s.X.(*ssa.Alloc)
	if !ok || array.Comment != "varargs" {
		return false
	}
	for _, in := range *array.Referrers() {
		at, ok := in.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, use := range *at.Referrers() {
			if st, ok := use.(*ssa.Store); ok && !c.value(st.Val, deep) {
				return false
			}
		}
	}
	return true
}

// HeaderOfConstants reports whether a literal is a slice of constant texts that becomes an entry of a header, here or in a
// function that is called with it, and nothing else.
func HeaderOfConstants(fn *ssa.Function, n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok || fn == nil {
		return false
	}
	for in := range flow.Instructions(fn) {
		array, ok := in.(*ssa.Alloc)
		if !ok || array.Pos() != lit.Lbrace {
			continue
		}
		var slice *ssa.Slice
		for _, use := range *array.Referrers() {
			switch use := use.(type) {
			case *ssa.Slice:
				slice = use
			case *ssa.IndexAddr:
				if slices.ContainsFunc(*use.Referrers(), func(in ssa.Instruction) bool { return !isConstantText(in) }) {
					return false
				}
			}
		}
		return slice != nil && intoHeader(slice, 2)
	}
	return false
}

func isConstantText(in ssa.Instruction) bool {
	st, ok := in.(*ssa.Store)
	if !ok {
		return false
	}
	c, ok := st.Val.(*ssa.Const)
	return ok && c.Value != nil && c.Value.Kind() == constant.String
}

// intoHeader reports whether a slice is only put into headers, by functions that are so many calls away at most.
func intoHeader(v ssa.Value, calls int) bool {
	put := false
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.MapUpdate:
			if in.Value != v || !isHeader(in.Map.Type()) {
				return false
			}
			put = true
		case *ssa.Call:
			callee := in.Call.StaticCallee()
			i := slices.Index(in.Call.Args, v)
			if b, ok := in.Call.Value.(*ssa.Builtin); ok && b.Name() == "len" {
				continue
			}
			if callee == nil || callee.Blocks == nil || i < 0 || calls == 0 || !intoHeader(callee.Params[i], calls-1) {
				return false
			}
			put = true
		default:
			return false
		}
	}
	return put
}

func isHeader(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return false
	}
	name := n.Obj().Pkg().Path() + "." + n.Obj().Name()
	return name == "net/http.Header" || name == "net/textproto.MIMEHeader"
}
