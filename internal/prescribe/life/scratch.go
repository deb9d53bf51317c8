package life

import (
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// scratch reports whether a value is stored in a field that keeps its memory to itself: no function returns it or
// stores it elsewhere, so the field's old array could be used again.
func (t *Tracer) scratch(v ssa.Value) bool {
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.Slice:
			if t.scratch(in) {
				return true
			}
		case *ssa.Store:
			if f, ok := in.Addr.(*ssa.FieldAddr); ok && in.Val == v && !flow.Bounds(in) && !flow.Field(f).Exported() {
				return !types.Identical(f.X.Type(), v.Type()) && t.stays(f) // one of a list's nodes is no scratch
			}
		}
	}
	return false
}

// stays reports whether all functions only look at what a field refers to, or fill it.
func (t *Tracer) stays(field *ssa.FieldAddr) bool {
	if t.callers().copied[field.X.Type().Underlying().(*types.Pointer).Elem()] {
		return false // a copy of the struct has the same memory
	}
	for f := range t.uses(field) {
		for _, in := range *f.Referrers() {
			load, ok := in.(*ssa.UnOp)
			if !ok {
				continue
			}
			s := t.scan(f.Parent())
			s.ref = load.Type()
			s.add(load, direct)
			if out := s.run(); flow.Outlives(load) || out.leaves() || out.shared || out.global != "" || out.unknown != "" {
				return false
			}
		}
	}
	return true
}

// Lends reports whether a function hands on what a field refers to, other than to the field itself: then somebody may
// still have it when the field is filled again. The field is named by the place of its declaration.
func (t *Tracer) Lends(place string) bool {
	lends, known := t.lending[place]
	if !known {
		lends = place != "" && t.lends(place)
		t.lending[place] = lends
	}
	return lends
}

func (t *Tracer) lends(place string) bool {
	for fn := range t.src.Functions() {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				load, ok := in.(*ssa.UnOp)
				if !ok {
					continue
				}
				field, ok := load.X.(*ssa.FieldAddr)
				if ok && t.placeOf(flow.Field(field).Pos()) == place && t.lent(load, flow.Field(field)) {
					return true
				}
			}
		}
	}
	return false
}

// lent reports whether a value that was loaded from a field outlives the call anywhere but in that field: in a result,
// in another field, or outside the struct.
func (t *Tracer) lent(load *ssa.UnOp, field *types.Var) bool {
	s := t.scan(load.Parent())
	s.ref = load.Type()
	s.add(load, direct)
	out := s.run()
	var own uint64
	for _, r := range rootsOf(load.X) {
		if i := slices.IndexFunc(load.Parent().Params, func(p *ssa.Parameter) bool { return p == r }); i >= 0 {
			own |= bit(i)
		}
	}
	return out.results|out.free != 0 || out.params&^own != 0 || out.shared || out.global != "" || out.unknown != "" || flow.MovedOn(load, field) || flow.Outlives(load) ||
		t.callers().copied[load.X.(*ssa.FieldAddr).X.Type().Underlying().(*types.Pointer).Elem()]
}

// uses are the addresses that functions take of a field, whatever they do with them.
func (t *Tracer) uses(field *ssa.FieldAddr) iter.Seq[*ssa.FieldAddr] {
	return func(yield func(*ssa.FieldAddr) bool) {
		for fn := range t.src.Functions() {
			for _, b := range fn.Blocks {
				for _, in := range b.Instrs {
					if f, ok := in.(*ssa.FieldAddr); ok && f.Field == field.Field && types.Identical(f.X.Type(), field.X.Type()) && !yield(f) {
						return
					}
				}
			}
		}
	}
}
