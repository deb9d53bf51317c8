package life

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// ways are where references to an object are put elsewhere.
type ways struct {
	at   map[token.Pos]bool
	hook string // variable for functions, which nothing sets, and a call of which gets one
}

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

// hook is the name of the package's variable that a function value is read from, if nothing sets it, so that the code
// that was read never calls it; "" for others.
func (t *Tracer) hook(v ssa.Value) string {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return ""
	}
	g, ok := load.X.(*ssa.Global)
	if !ok {
		return ""
	}
	stored, ok := t.callers().stored[flow.Slot(g)]
	if !ok || slices.ContainsFunc(stored, func(v ssa.Value) bool { c, ok := v.(*ssa.Const); return !ok || !c.IsNil() }) {
		return ""
	}
	return g.Name()
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
