package life

import (
	"cmp"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Bounds on the calls that are followed beyond a stack.
const (
	mostCallers = 16 // of one function
	mostDeep    = 4
)

// calls are the static calls of each function of the packages that were read, and the functions that
// are used as values, which may be called from anywhere.
type calls struct {
	of    map[*ssa.Function][]ssa.CallInstruction
	value map[*ssa.Function]bool
}

// callers finds the calls once.
func (t *Tracer) callers() *calls {
	if t.calls != nil {
		return t.calls
	}
	t.calls = &calls{map[*ssa.Function][]ssa.CallInstruction{}, map[*ssa.Function]bool{}}
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

func (c *calls) note(in ssa.Instruction) {
	call, isCall := in.(ssa.CallInstruction)
	if isCall {
		if fn := call.Common().StaticCallee(); fn != nil {
			c.of[origin(fn)] = append(c.of[origin(fn)], call)
		}
	}
	if _, names := in.(*ssa.DebugRef); names {
		return // it says what an identifier of the source stands for
	}
	for _, v := range in.Operands(nil) {
		fn, ok := (*v).(*ssa.Function)
		if ok && !(isCall && *v == call.Common().Value) {
			c.value[origin(fn)] = true
		}
	}
}

// beyond follows what leaves the outermost frame of a stack into the calls of its function that the stack
// does not show: a test or benchmark called a function that only its package can name, and what it stands for are
// the calls of the package. The strongest end of them counts. It is false where there is no such call, or where
// others are possible.
func (t *Tracer) beyond(s *scan, out *outcome, deep int) (end finding.End, at evidence.Frame, ok bool) {
	fn := s.fn
	if deep == mostDeep || fn.Parent() != nil || fn.Signature.Recv() != nil || fn.Object() == nil || fn.Object().Exported() {
		return 0, at, false
	}
	all := t.callers()
	list := all.of[origin(fn)]
	if len(list) == 0 || len(list) > mostCallers || all.value[origin(fn)] {
		return 0, at, false
	}
	ends := map[finding.End]evidence.Frame{}
	for _, call := range list {
		up := t.scan(call.Parent())
		up.ref = s.ref
		up.out.boxed, up.out.spawned, up.out.field = out.boxed, out.spawned, out.field
		up.handed(call, out)
		e, f := t.endOf(up, deep)
		if f.Function == "" {
			f = evidence.Frame{File: t.src.FileOf(call.Pos()), Line: t.src.LineOf(call.Pos()), Function: nameOf(up.fn)}
		}
		if _, had := ends[e]; !had {
			ends[e] = f
		}
	}
	for _, e := range []finding.End{finding.EndUnknown, finding.EndShared, finding.EndStored, finding.EndResult, finding.EndFrame} {
		if f, found := ends[e]; found {
			return e, f, true
		}
	}
	return 0, at, false
}

// endOf is the end of what a caller was handed, and where, if a caller further out says.
func (t *Tracer) endOf(s *scan, deep int) (finding.End, evidence.Frame) {
	out := s.run()
	switch {
	case out.shared:
		return finding.EndShared, evidence.Frame{}
	case out.global != "":
		return finding.EndStored, evidence.Frame{}
	case out.unknown != "", out.results == 0 && out.params == 0 && out.leaves():
		return finding.EndUnknown, evidence.Frame{}
	case !out.leaves():
		return finding.EndFrame, evidence.Frame{}
	}
	if end, at, ok := t.beyond(s, out, deep+1); ok {
		return end, at
	}
	if out.results != 0 {
		return finding.EndResult, evidence.Frame{}
	}
	return finding.EndStored, evidence.Frame{}
}
