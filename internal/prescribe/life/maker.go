package life

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// maker finds the variable of a library's type for which a method allocates, in the frame that declares it: a
// builder that is handed down is one object, even if several functions write to it. It returns the zero value if the
// variable is not found, such as for a field.
func (t *Tracer) maker(v ssa.Value, own []evidence.Frame) finding.Maker {
	fn := v.Parent()
	for i := 0; ; {
		switch at := whole(v).(type) {
		case *ssa.Alloc:
			m := finding.Maker{At: evidence.Site{File: own[i].File, Line: t.src.LineOf(at.Pos()), Function: own[i].Function}, Emptied: calledOn(at, "strings.(*Builder).Reset"), Grown: calledOn(at, "strings.(*Builder).Grow", "bytes.(*Buffer).Grow")}
			if at.Comment != "new" && at.Comment != "complit" {
				m.Name = at.Comment
			}
			return m
		case *ssa.Call:
			if calleeName(at.Common()) == "sync.(*Pool).Get" {
				return finding.Maker{Pooled: true}
			}
			return finding.Maker{At: evidence.Site{File: own[i].File, Line: t.src.LineOf(at.Pos()), Function: own[i].Function}}
		case *ssa.Parameter:
			if i++; i == len(own) {
				return finding.Maker{}
			}
			caller := t.src.Function(own[i].File, own[i].Line, own[i].Function)
			if caller == nil {
				return finding.Maker{}
			}
			calls := callsOn(t.src, caller, own[i].Line, fn)
			if len(calls) != 1 {
				return finding.Maker{}
			}
			if v = flow.Argument(calls[0].Common(), slices.Index(fn.Params, at)); v == nil {
				return finding.Maker{}
			}
			fn = caller
		case *ssa.UnOp:
			field, ok := at.X.(*ssa.FieldAddr)
			return finding.Maker{Pooled: ok && t.fromPool(field)}
		default:
			return finding.Maker{}
		}
	}
}

// fromPool reports whether a field is ever set to what a pool gives.
func (t *Tracer) fromPool(field *ssa.FieldAddr) bool {
	for f := range t.uses(field) {
		for _, in := range *f.Referrers() {
			if st, ok := in.(*ssa.Store); ok && st.Addr == f && poolGets(st.Val) {
				return true
			}
		}
	}
	return false
}

func poolGets(v ssa.Value) bool {
	call, ok := whole(v).(*ssa.Call)
	return ok && calleeName(call.Common()) == "sync.(*Pool).Get"
}

// whole is the value behind conversions that keep the pointer.
func whole(v ssa.Value) ssa.Value {
	for {
		switch c := v.(type) {
		case *ssa.MakeInterface:
			v = c.X
		case *ssa.ChangeInterface:
			v = c.X
		case *ssa.ChangeType:
			v = c.X
		case *ssa.TypeAssert:
			v = c.X
		default:
			return v
		}
	}
}

// calledOn reports whether a function calls one of the methods on its builder or buffer.
func calledOn(v *ssa.Alloc, methods ...string) bool {
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		call, ok := in.(ssa.CallInstruction)
		return ok && slices.Contains(methods, calleeName(call.Common()))
	})
}

// handedIn finds the object whose method allocates where the library that the line calls has been handed it: the only
// one of the method's receiver type in the nearest frame that has any. The second result is that frame.
func (t *Tracer) handedIn(method string, own []evidence.Frame) ([]ssa.Value, int) {
	receiver, _, _ := strings.Cut(method, ").")
	for i, f := range own {
		fn := t.src.Function(f.File, f.Line, f.Function)
		if fn == nil {
			return nil, 0
		}
		switch found := pointersTo(fn, receiver); len(found) {
		case 0:
		case 1:
			return found, i
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// pointersTo are the values of a function that are pointers to a type, as it gets or makes them.
func pointersTo(fn *ssa.Function, receiver string) []ssa.Value {
	var found []ssa.Value
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch in.(type) {
			case *ssa.Call, *ssa.Extract, *ssa.TypeAssert, *ssa.UnOp, *ssa.Alloc:
				if v := in.(ssa.Value); nameOfPointer(v.Type()) == receiver {
					found = append(found, v)
				}
			}
		}
	}
	for _, p := range fn.Params {
		if nameOfPointer(p.Type()) == receiver {
			found = append(found, p)
		}
	}
	return found
}

// nameOfPointer spells a pointer to a named type as pprof does in the name of a method: path.(*Name. Others are empty.
func nameOfPointer(t types.Type) string {
	p, ok := t.(*types.Pointer)
	if !ok {
		return ""
	}
	n, ok := p.Elem().(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return ""
	}
	return n.Obj().Pkg().Path() + ".(*" + n.Obj().Name()
}
