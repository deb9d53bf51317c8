package life

import "golang.org/x/tools/go/ssa"

// scratch reports whether a value is stored in a field whose memory no function hands on: what was there before could
// be used again.
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
	for fn := range t.src.Functions() {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				load, ok := in.(*ssa.UnOp)
				if !ok || !sameField(load.X, field) {
					continue
				}
				s := t.scan(fn)
				s.ref = load.Type()
				s.add(load, direct)
				if out := s.run(); out.leaves() || out.shared || out.global != "" || out.unknown != "" {
					return false
				}
			}
		}
	}
	return true
}
