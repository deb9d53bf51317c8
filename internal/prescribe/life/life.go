// Package life follows an object from the expression that makes it along the
// observed stack: through which frames it is handed on, in which it dies, or what
// keeps it. It asks SSA form one local question per frame. What it cannot see is
// unknown, and unknown is never permission.
package life

import (
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/boxes"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// Birth says which allocation of a line is asked about.
type Birth struct {
	Kind finding.Kind
	Via  string // function of another module or the standard library that allocates; empty for the line itself
	// Sizes are those of the blocks that were seen, in bytes; of several values of the line, those of
	// another size are not meant. Empty if they are not known.
	Sizes []int64
}

// Tracer answers questions about one program. It is not safe for concurrent use.
type Tracer struct {
	src       *source.Program
	summaries map[question]*outcome
	missing   map[string]bool
	lending   map[string]bool      // answers of Lends
	constant  map[*ssa.Global]bool // answers of settled
	calls     *calls               // nil before somebody asks
}

// New returns a tracer for the code that was read.
func New(src *source.Program) *Tracer {
	return &Tracer{src: src, summaries: map[question]*outcome{}, missing: map[string]bool{}, lending: map[string]bool{}, constant: map[*ssa.Global]bool{}}
}

// Missing are the import paths of the packages whose source would have answered more, in
// order.
func (t *Tracer) Missing() []string { return slices.Sorted(maps.Keys(t.missing)) }

// Trace follows what a birth makes along a stack of the user's own frames, callee
// first; the first frame is the one of the birth. The code beyond the last frame is
// not the user's. It returns unknown where the source or the value is not found.
func (t *Tracer) Trace(b Birth, own []evidence.Frame) finding.Life {
	if len(own) == 0 {
		return finding.Life{}
	}
	fn := t.src.Function(own[0].File, own[0].Line, own[0].Function)
	if fn == nil {
		return finding.Life{Unknown: "the source of " + own[0].Function}
	}
	born := t.born(fn, b, own[0].Line)
	from := 0
	if len(born) == 0 && OwnMemory(b.Via) {
		born, from = t.handedIn(b.Via, own)
	}
	if len(born) == 0 && (strings.HasPrefix(b.Via, "io.Copy") || strings.HasPrefix(b.Via, "image/png.")) {
		return finding.Life{End: finding.EndFrame, Function: own[0].Function} // its buffers; no result refers to one
	}
	if len(born) == 0 {
		return finding.Life{Unknown: "which value of the line allocates"}
	}
	s := t.scan(born[0].Parent())
	for _, v := range born {
		s.birth(v, b)
	}
	l := t.climb(s, own[from:])
	l.Frame += from
	l.Passed.Compared = !slices.ContainsFunc(born, func(v ssa.Value) bool { return !compared(v) })
	l.Passed.Listed = b.Via != "" && slices.ContainsFunc(born, listed)
	l.Passed.Built = Plain(b.Via) == "bytes.(*Buffer).String" && !slices.ContainsFunc(born, func(v ssa.Value) bool { return !t.onlyBuilt(v) })
	l.Passed.Scratch = len(born) == 1 && (b.Via == "" && (b.Kind == finding.KindNew || (b.Kind == finding.KindMake || b.Kind == finding.KindMap) && l.Receiver) || flow.CopiedToReceiver(born[0])) && t.scratch(born[0])
	l.Passed.Argument = slices.ContainsFunc(born, argued)
	l.Passed.Fixed = b.Kind == finding.KindClosure && !slices.ContainsFunc(born, func(v ssa.Value) bool { return !flow.SameEachTurn(v) })
	if b.Kind == finding.KindBoxing {
		made := l.Passed.Box.Made
		l.Passed.Box = boxes.Of(born, t.src.Functions())
		l.Passed.Box.Made = made
	}
	l.Passed.Carried = l.Passed.Carried || b.Kind != finding.KindGrowth && slices.ContainsFunc(born, flow.Carried)
	l.Passed.Dropped = l.Passed.Dropped && !slices.ContainsFunc(born, func(v ssa.Value) bool { return flow.Reads(v) || acts(v) })
	l.Passed.Spared = slices.ContainsFunc(born, spared)
	if len(born) == 1 && b.Kind != finding.KindMapGrowth {
		l.Made = t.placeOf(born[0].Pos())
		l.OnlyRead = t.onlyRead(born[0])
	}
	switch {
	case len(born) != 1:
	case strings.HasPrefix(b.Via, "encoding/json.(*Decoder)."), ofDecoder[b.Via]:
		l.Maker = t.decoder(born[0], own[from])
	case OwnMemory(Plain(b.Via)):
		l.Maker = t.maker(born[0], own[from:])
	}
	if len(s.out.part) == 1 {
		for at := range s.out.part {
			l.PartOf = t.placeOf(at)
		}
	}
	return l
}

// climb goes from frame to frame for as long as the object leaves the one it is in.
func (t *Tracer) climb(s *scan, own []evidence.Frame) finding.Life {
	var ways []int
	back, within, kept := false, false, false
	for i := 0; ; {
		out := s.run()
		if i == 0 {
			ways, back = t.linesOf(out.ways.at), out.back
		}
		within, kept = within || out.wraps != 0, kept || out.here.keeps
		l := finding.Life{Ways: finding.Ways{Lines: ways, Hook: out.ways.hook}, Frame: i, Function: own[i].Function, Field: out.field,
			Passed: finding.Passed{Box: finding.Box{Made: out.boxed}, Back: back, Within: within, Spawned: out.spawned, Key: finding.Key{Asked: out.text.looked && !out.text.other, Put: t.siteOf(out.text.stored)}, Taken: out.text.taken, Dropped: out.here.drops, Carried: kept}}
		switch {
		case out.shared:
			l.End = finding.EndShared
			return l
		case out.global != "":
			l.End, l.Holder = finding.EndStored, out.global
			return l
		case out.unknown != "":
			l.Unknown = out.unknown
			return l
		case !out.leaves():
			l.End = finding.EndFrame
			return l
		case i+1 == len(own):
			if at, ok := t.diesBeyond(s, out, 0); ok {
				l.End, l.Frame, l.Function = finding.EndFrame, i+1, at.Function
				l.At = evidence.Site{File: at.File, Line: at.Line, Function: at.Function}
				return l
			}
			return last(l, out, s.fn)
		}
		up, unseen := t.callerOf(s, own, &i)
		if up == nil {
			l.Unknown = unseen
			return l
		}
		up.ref = s.ref
		up.out.boxed, up.out.spawned, up.out.field, up.out.text, up.out.ways.hook = out.boxed, out.spawned, out.field, out.text, out.ways.hook
		up.take(s.fn, own[i].Line, out)
		s = up
	}
}

// callerOf is the scan of the frame that the object is handed to, which it counts i up to: the
// caller's, or for what a function literal only stores into captured variables, that of the
// function around it.
func (t *Tracer) callerOf(s *scan, own []evidence.Frame, i *int) (up *scan, unseen string) {
	if s.out.results|s.out.params == 0 {
		for j := *i + 1; j < len(own); j++ {
			if fn := t.src.Function(own[j].File, own[j].Line, own[j].Function); fn != nil && fn == s.fn.Parent() {
				*i = j
				return t.scan(fn), ""
			}
		}
		return nil, "the variables that a closure captures"
	}
	*i++
	if fn := t.src.Function(own[*i].File, own[*i].Line, own[*i].Function); fn != nil {
		return t.scan(fn), ""
	}
	return nil, "the source of " + own[*i].Function
}

// take starts a scan with what left a callee, or a literal of the function itself.
func (s *scan) take(callee *ssa.Function, line int, o *outcome) {
	if o.results|o.params == 0 && callee.Parent() == s.fn {
		for _, b := range s.fn.Blocks {
			for _, in := range b.Instrs {
				if mc, ok := in.(*ssa.MakeClosure); ok && mc.Fn == callee {
					s.intoBindings(mc, o.free)
				}
			}
		}
		return
	}
	calls := callsOn(s.src, s.fn, line, callee)
	if len(calls) == 0 {
		s.unknown("the call of " + callee.Name() + " in " + s.fn.Name())
	}
	s.out.here.drops = o.params == 0 && !slices.ContainsFunc(calls, func(c ssa.CallInstruction) bool { return !flow.Drops(c, o.results) })
	s.out.here.keeps = len(calls) > 1 || slices.ContainsFunc(calls, func(c ssa.CallInstruction) bool { v, ok := c.(*ssa.Call); return ok && flow.Carried(v) })
	for _, call := range calls {
		s.handed(call, o)
	}
}

// placeOf names a place of the source; "" for none.
func (t *Tracer) placeOf(at token.Pos) string {
	if !at.IsValid() {
		return ""
	}
	return t.src.PlaceOf(at)
}

// siteOf is a place of the source without its function; zero for none.
func (t *Tracer) siteOf(at token.Pos) evidence.Site {
	if !at.IsValid() {
		return evidence.Site{}
	}
	return evidence.Site{File: t.src.FileOf(at), Line: t.src.LineOf(at)}
}

// linesOf are the lines of places, lowest first.
func (t *Tracer) linesOf(places map[token.Pos]bool) []int {
	lines := map[int]bool{}
	for p := range places {
		lines[t.src.LineOf(p)] = true
	}
	return slices.Sorted(maps.Keys(lines))
}

// last is the life of an object that leaves the outermost of the user's frames.
func last(l finding.Life, out *outcome, fn *ssa.Function) finding.Life {
	if out.results != 0 {
		l.End = finding.EndResult
		return l
	}
	if out.params == 0 {
		l.Unknown = "the variables that a closure captures"
		return l
	}
	l.End = finding.EndStored
	for i, p := range fn.Params {
		if out.params&bit(i) != 0 {
			l.Holder = p.Name()
			l.Receiver = i == 0 && fn.Signature.Recv() != nil
			l.Given = !l.Receiver
			break
		}
	}
	return l
}

// callsOn finds the calls of a function on a line, or else of its signature there. Of
// several, each may be the one.
func callsOn(src *source.Program, fn *ssa.Function, line int, callee *ssa.Function) []ssa.CallInstruction {
	var same, dynamic, anywhere []ssa.CallInstruction
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			static := call.Common().StaticCallee()
			switch here := src.LineOf(call.Pos()) == line; {
			case static != nil && flow.Origin(static) == flow.Origin(callee):
				anywhere = append(anywhere, call)
				if here {
					same = append(same, call)
				}
			case static == nil && here && sameShape(call.Common(), callee):
				dynamic = append(dynamic, call)
			}
		}
	}
	for _, found := range [][]ssa.CallInstruction{same, dynamic, anywhere} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// sameShape reports whether a dynamic call may be one of the function.
func sameShape(c *ssa.CallCommon, fn *ssa.Function) bool {
	if c.IsInvoke() {
		return c.Method.Name() == fn.Name()
	}
	if _, builtin := c.Value.(*ssa.Builtin); builtin {
		return false
	}
	sig, ok := c.Value.Type().Underlying().(*types.Signature)
	return ok && fn.Signature.Recv() == nil && types.Identical(sig.Params(), fn.Signature.Params()) &&
		types.Identical(sig.Results(), fn.Signature.Results())
}

func bit(i int) uint64 { return 1 << min(uint(i), 63) }

// acts reports whether a value is the result of a call that may do more than to make it.
func acts(v ssa.Value) bool {
	if e, ok := v.(*ssa.Extract); ok {
		v = e.Tuple
	}
	c, ok := v.(*ssa.Call)
	return ok && !flow.Harmless(&c.Call)
}
