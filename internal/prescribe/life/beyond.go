package life

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Bounds on the calls that are followed beyond a stack.
const (
	mostCallers = 16 // of one function
	mostDeep    = 4
)

// calls are the static calls of each function that was read, and the functions that are used as values:
// these may be called from anywhere. Beside them stands what fields and variables of function types hold.
type calls struct {
	of     map[*ssa.Function][]ssa.CallInstruction
	value  map[*ssa.Function]bool
	stored map[types.Object][]ssa.Value // in fields and variables of function types
	copied map[types.Type]bool          // structs whose values are copied
}

// callers finds the calls once.
func (t *Tracer) callers() *calls {
	if t.calls != nil {
		return t.calls
	}
	t.calls = &calls{map[*ssa.Function][]ssa.CallInstruction{}, map[*ssa.Function]bool{}, flow.StoredFunctions(t.src.Functions()), map[types.Type]bool{}}
	for fn := range t.src.Functions() {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				t.calls.note(in)
			}
		}
	}
	for _, list := range t.calls.of {
		slices.SortFunc(list, func(a, b ssa.CallInstruction) int { return cmp.Compare(a.Pos(), b.Pos()) })
	}
	return t.calls
}

// Given reports whether something else states what a function takes and returns, as flow.FixedSignature has it.
func (t *Tracer) Given(fn *ssa.Function) bool {
	return fn != nil && flow.FixedSignature(flow.Origin(fn), t.callers().value)
}

func (c *calls) note(in ssa.Instruction) {
	call, isCall := in.(ssa.CallInstruction)
	if isCall {
		if fn := call.Common().StaticCallee(); fn != nil {
			c.of[flow.Origin(fn)] = append(c.of[flow.Origin(fn)], call)
		}
	}
	if load, ok := in.(*ssa.UnOp); ok && load.Op == token.MUL && slices.ContainsFunc(*load.Referrers(), takesAll) {
		c.copied[load.Type()] = true
	}
	if _, names := in.(*ssa.DebugRef); names {
		return // a note on an identifier of the source, and no use
	}
	for _, v := range in.Operands(nil) {
		fn, ok := (*v).(*ssa.Function)
		if ok && !(isCall && *v == call.Common().Value) {
			c.value[flow.Origin(fn)] = true
		}
	}
}

// takesAll reports whether an instruction takes a struct as a whole.
func takesAll(in ssa.Instruction) bool {
	switch in.(type) {
	case *ssa.DebugRef, *ssa.Field:
		return false
	}
	return true
}

// diesBeyond reports whether the object dies in every call of the outermost function of a stack, and where in the
// first. A test may call a function whose name is not exported; the package's own calls then take the test's place.
// It is false where calls from elsewhere are possible.
func (t *Tracer) diesBeyond(s *scan, out *outcome, deep int) (at evidence.Frame, ok bool) {
	fn := s.fn
	if deep == mostDeep || fn.Parent() != nil || fn.Signature.Recv() != nil || fn.Object() == nil || fn.Object().Exported() {
		return at, false
	}
	all := t.callers()
	list := all.of[flow.Origin(fn)]
	if len(list) > mostCallers || all.value[flow.Origin(fn)] {
		return at, false
	}
	for i, call := range list {
		up := t.scan(call.Parent())
		up.ref = s.ref
		up.out.boxed, up.out.spawned, up.out.field, up.out.ways.hook = out.boxed, out.spawned, out.field, out.ways.hook
		up.handed(call, out)
		left := up.run()
		if left.shared || left.global != "" || left.unknown != "" {
			return at, false
		}
		f := evidence.Frame{File: t.src.FileOf(call.Pos()), Line: t.src.LineOf(call.Pos()), Function: flow.NameOf(up.fn)}
		if left.leaves() {
			if f, ok = t.diesBeyond(up, left, deep+1); !ok {
				return at, false
			}
		}
		if i == 0 {
			at = f
		}
	}
	return at, len(list) > 0
}
