package way

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/life"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// OfPool reports whether a pool's New makes an object, itself or by functions of the user's that it calls.
func OfPool(st finding.Stack, site evidence.Site, yours Yours) bool {
	inside := false
	for _, f := range st.Frames {
		switch {
		case life.Plain(f.Function) == life.Plain(site.Function) && f.Line == site.Line:
			inside = true
		case inside && life.Plain(f.Function) == PoolGet:
			return true
		case inside && !yours(f):
			return false
		}
	}
	return false
}

// NeverPut is the pool that the first of some frames calls Get of, if nothing is put into it: a variable or a field whose
// address nothing else has. It is "" for others, and without a source.
func NeverPut(src *source.Program, own []evidence.Frame) string {
	if src == nil || len(own) == 0 {
		return ""
	}
	get := own[0]
	fn := src.Function(get.File, get.Line, get.Function)
	if fn == nil {
		return ""
	}
	var pool types.Object
	for in := range flow.Instructions(fn) {
		recv := poolOf(in, PoolGet)
		if recv == nil || src.LineOf(in.Pos()) != get.Line {
			continue
		}
		if load, ok := recv.(*ssa.UnOp); ok {
			recv = load.X // a pointer to a pool
		}
		pool = flow.Slot(recv)
	}
	if pool == nil {
		return ""
	}
	for fn := range src.Functions() {
		for in := range flow.Instructions(fn) {
			if !onlyAsked(in, pool) {
				return ""
			}
		}
	}
	return pool.Name()
}

// poolOf is the pool of a call of one of its methods; nil for others.
func poolOf(in ssa.Instruction, method string) ssa.Value {
	call, ok := in.(ssa.CallInstruction)
	if !ok || call.Common().StaticCallee() == nil || flow.NameOf(call.Common().StaticCallee()) != method {
		return nil
	}
	return call.Common().Args[0]
}

// onlyAsked reports whether an instruction does nothing with a pool but to call its Get, and to set its New.
func onlyAsked(in ssa.Instruction, pool types.Object) bool {
	if _, debug := in.(*ssa.DebugRef); debug {
		return true
	}
	for _, v := range in.Operands(nil) {
		if *v == nil || flow.Slot(*v) != pool {
			continue
		}
		switch in := in.(type) {
		case *ssa.FieldAddr: // its New
		case *ssa.UnOp: // a pointer to a pool
			if !asksOnly(in, pool) {
				return false
			}
		case *ssa.Store:
			if in.Val == *v {
				return false
			}
		default:
			if poolOf(in, PoolGet) != *v {
				return false
			}
		}
	}
	return true
}

// asksOnly reports whether all that is done with a pointer to a pool is to call its Get, to set its New, and to hand it to
// another owner of the same field.
func asksOnly(load *ssa.UnOp, pool types.Object) bool {
	for _, in := range *load.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.FieldAddr:
		case *ssa.Store:
			if flow.Slot(in.Addr) != pool {
				return false
			}
		default:
			if poolOf(in, PoolGet) != ssa.Value(load) {
				return false
			}
		}
	}
	return true
}
