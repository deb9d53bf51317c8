package life

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/boxes"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// OfConstants is the outermost function of a way that is called with constants alone, does nothing but to return what it
// makes of them, and whose result its caller only reads, or is a function without a state of its own; at is the frame of
// the call. The name is empty for none.
func (t *Tracer) OfConstants(own []evidence.Frame) (maker string, at evidence.Frame) {
	for i := 1; i < len(own); i++ {
		callee := t.src.Function(own[i-1].File, own[i-1].Line, own[i-1].Function)
		caller := t.src.Function(own[i].File, own[i].Line, own[i].Function)
		if callee == nil || caller == nil || callee.Parent() != nil {
			return maker, at
		}
		calls := callsOn(t.src, caller, own[i].Line, callee)
		if len(calls) > 0 && !slices.ContainsFunc(calls, func(c ssa.CallInstruction) bool { return !t.same(c) }) {
			maker, at = own[i-1].Function, own[i]
		}
	}
	return maker, at
}

// same reports whether a call makes the same each time, and nothing changes that.
func (t *Tracer) same(c ssa.CallInstruction) bool {
	call, ok := c.(*ssa.Call)
	if !ok || call.Call.StaticCallee() == nil || call.Call.Signature().Recv() != nil || call.Call.Signature().Results().Len() == 0 {
		return false
	}
	constant := func(v ssa.Value) bool { _, is := v.(*ssa.Const); return is }
	return !slices.ContainsFunc(call.Call.Args, func(a ssa.Value) bool { return !constant(a) }) &&
		flow.Harmless(&call.Call) && !t.asksVariables(call.Call.StaticCallee(), mostAsked) &&
		(t.onlyReadDeep(call) == finding.Yes || stateless(call.Call.StaticCallee()))
}

// stateless reports whether a function returns nothing but functions that only read what they capture of its parameters: one
// is as good as the next.
func stateless(fn *ssa.Function) bool {
	if fn.Signature.Results().Len() != 1 {
		return false
	}
	returns := 0
	for in := range flow.Instructions(fn) {
		r, ok := in.(*ssa.Return)
		if !ok {
			continue
		}
		made, ok := r.Results[0].(*ssa.MakeClosure)
		if !ok || slices.ContainsFunc(made.Bindings, func(v ssa.Value) bool { return !holdsArgument(v) }) ||
			slices.ContainsFunc(made.Fn.(*ssa.Function).FreeVars, func(v *ssa.FreeVar) bool { return !onlyLoaded(v) }) {
			return false
		}
		returns++
	}
	return returns > 0
}

// holdsArgument reports whether a captured variable is a parameter that nothing sets.
func holdsArgument(v ssa.Value) bool {
	a, ok := v.(*ssa.Alloc)
	if !ok {
		return false
	}
	return !slices.ContainsFunc(*a.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.Store:
			_, parameter := in.Val.(*ssa.Parameter)
			return in.Addr != v || !parameter
		case *ssa.UnOp, *ssa.MakeClosure, *ssa.DebugRef:
			return false
		}
		return true
	})
}

// onlyLoaded reports whether all that a function does with a variable that it captures is to read it.
func onlyLoaded(v *ssa.FreeVar) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in.(type) {
		case *ssa.UnOp, *ssa.DebugRef:
			return false
		}
		return true
	})
}

// mostAsked is how deep asksVariables follows calls; deeper ones count as if they asked.
const mostAsked = 4

// asksVariables reports whether a function, or one that it calls, reads variables of packages that may change.
func (t *Tracer) asksVariables(fn *ssa.Function, deep int) bool {
	if fn.Blocks == nil {
		return false // of the standard library, by what flow.Harmless knows
	}
	if deep == 0 {
		return true
	}
	for in := range flow.Instructions(fn) {
		for _, v := range in.Operands(nil) {
			if g, ok := (*v).(*ssa.Global); ok && !t.settled(g) {
				return true
			}
		}
		if c, ok := in.(ssa.CallInstruction); ok && c.Common().StaticCallee() != nil && t.asksVariables(c.Common().StaticCallee(), deep-1) {
			return true
		}
	}
	return false
}

// settled reports whether a variable keeps the value of its initialization.
func (t *Tracer) settled(g *ssa.Global) bool {
	answer, asked := t.constant[g]
	if !asked {
		answer = boxes.NeverSet(g, t.src.Functions())
		t.constant[g] = answer
	}
	return answer
}
