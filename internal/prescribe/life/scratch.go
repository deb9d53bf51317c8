package life

import (
	"go/types"
	"iter"

	"golang.org/x/tools/go/ssa"
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
			if f, ok := in.Addr.(*ssa.FieldAddr); ok && in.Val == v {
				return t.stays(f)
			}
		}
	}
	return false
}

// stays reports whether all functions only look at what a field refers to, or fill it.
func (t *Tracer) stays(field *ssa.FieldAddr) bool {
	for f := range t.uses(field) {
		for _, in := range *f.Referrers() {
			load, ok := in.(*ssa.UnOp)
			if !ok {
				continue
			}
			s := t.scan(f.Parent())
			s.ref = load.Type()
			s.add(load, direct)
			if out := s.run(); out.leaves() || out.shared || out.global != "" || out.unknown != "" {
				return false
			}
		}
	}
	return true
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
