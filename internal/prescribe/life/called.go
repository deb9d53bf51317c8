package life

import (
	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// called are the functions that a value may be, if the code that was read shows all of them: it was put into a field or
// variable whose name is not exported, or is a parameter of such a function. ok is false where others are possible.
func (t *Tracer) called(v ssa.Value, deep int) (all []*ssa.Function, ok bool) {
	if deep > mostDeep {
		return nil, false
	}
	var from []ssa.Value
	switch v := v.(type) {
	case *ssa.Function:
		return []*ssa.Function{v}, v.Blocks != nil
	case *ssa.MakeClosure:
		return t.called(v.Fn, deep)
	case *ssa.Const:
		return nil, true // nil, which nobody calls
	case *ssa.ChangeType:
		from = []ssa.Value{v.X}
	case *ssa.Phi:
		from = v.Edges
	case *ssa.UnOp:
		from, ok = t.callers().stored[flow.Slot(v.X)]
		if !ok {
			return nil, false
		}
	case *ssa.Parameter:
		if from = t.handedFor(v); from == nil {
			return nil, false
		}
	default:
		return nil, false
	}
	for _, f := range from {
		more, ok := t.called(f, deep+1)
		if !ok || len(all)+len(more) > mostCallers {
			return nil, false
		}
		all = append(all, more...)
	}
	return all, len(all) > 0
}

// handedFor are the arguments that calls hand in for a parameter; nil where calls from elsewhere are possible.
func (t *Tracer) handedFor(p *ssa.Parameter) (args []ssa.Value) {
	fn := p.Parent()
	all := t.callers()
	if fn.Parent() != nil || fn.Signature.Recv() != nil || fn.Object() == nil || fn.Object().Exported() || all.value[flow.Origin(fn)] || len(all.of[flow.Origin(fn)]) > mostCallers {
		return nil
	}
	for i, q := range fn.Params {
		if q != p {
			continue
		}
		for _, call := range all.of[flow.Origin(fn)] {
			args = append(args, call.Common().Args[i])
		}
	}
	return args
}
