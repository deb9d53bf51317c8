package life

import (
	"cmp"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/contract"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// maxDepth bounds the calls that are followed into their callees.
const maxDepth = 12

// call follows the object through a call that it is an argument of.
func (s *scan) call(h held, in ssa.CallInstruction) {
	c := in.Common()
	if h.mode == outside {
		return
	}
	if b, ok := c.Value.(*ssa.Builtin); ok {
		s.builtin(h, b.Name(), in)
		return
	}
	result, _ := in.(*ssa.Call)
	callee := c.StaticCallee()
	if callee == nil && !c.IsInvoke() && c.Value == h.value {
		return // a function value is called, not handed on
	}
	if k, ok := contract.Of(c, h.value); ok {
		if k == contract.Unpacks && h.mode != container {
			return
		}
		if k != contract.Drops {
			s.way(h, in)
		}
		switch {
		case k == contract.Keeps:
			s.out.global = "what " + calleeName(c) + " keeps"
		case (k == contract.Passes || k == contract.Unpacks || (k == contract.Chains || k == contract.Fills) && flow.Argument(c, 0) == h.value) && result != nil:
			s.passed(result)
		case k == contract.Fills:
			s.store(flow.Argument(c, 0), "")
		}
		return
	}
	if callee == nil || callee.Blocks == nil {
		s.way(h, in)
	}
	if c.IsInvoke() && s.invoke(h, c, result) {
		return
	}
	if callee == nil && !c.IsInvoke() && s.dynamic(h, c, result) {
		return
	}
	if callee == nil || callee.Blocks == nil {
		if result != nil {
			s.add(result, container)
		}
		s.notRead(callee)
		s.unknown("what " + calleeName(c) + " does with it")
		return
	}
	for i, a := range c.Args {
		if a == h.value && i < len(callee.Params) {
			o := s.summary(question{callee, callee.Params[i], h.mode, s.ref})
			if o.leaves() || o.shared || o.global != "" || o.unknown != "" {
				s.way(h, in)
			}
			s.apply(o, result, c)
		}
	}
}

// invoke follows the object through a call of an interface's method: into the one of the value that was put into the
// interface in sight, or into all its implementations; false where they are not known.
func (s *scan) invoke(h held, c *ssa.CallCommon, result *ssa.Call) bool {
	var bodies []*ssa.Function
	if boxed, ok := c.Value.(*ssa.MakeInterface); ok {
		bodies = s.src.MethodOf(boxed.X.Type(), c.Method)
	} else {
		bodies = s.src.Implementations(c.Value.Type(), c.Method)
	}
	for _, fn := range bodies {
		for i, p := range fn.Params {
			if flow.Argument(c, i) == h.value {
				s.apply(s.summary(question{fn, p, h.mode, s.ref}), result, c)
			}
		}
	}
	return len(bodies) > 0
}

// dynamic follows the object through a call of a function value, into all functions that it may be; false where they
// are not known.
func (s *scan) dynamic(h held, c *ssa.CallCommon, result *ssa.Call) bool {
	if hook := s.hook(c.Value); hook != "" {
		s.out.ways.hook = hook
		return true
	}
	fns, ok := s.called(c.Value, 0)
	for _, fn := range fns {
		for i, a := range c.Args {
			if !ok || a != h.value || i >= len(fn.Params) {
				continue
			}
			o := s.summary(question{fn, fn.Params[i], h.mode, s.ref})
			if o.free != 0 {
				s.unknown("the variables that a closure captures")
			}
			s.apply(o, result, c)
		}
	}
	return ok
}

// passed queues the results of a call that refer to its arguments. Errors beside other
// results do not.
func (s *scan) passed(call *ssa.Call) {
	results := call.Call.Signature().Results()
	if results.Len() == 1 {
		s.add(call, container)
		return
	}
	for _, in := range *call.Referrers() {
		if e, ok := in.(*ssa.Extract); ok && !isError(e.Type()) {
			s.add(e, container)
		}
	}
}

// apply takes over what a callee does with the object.
func (s *scan) apply(o *outcome, result *ssa.Call, c *ssa.CallCommon) {
	s.out.shared = s.out.shared || o.shared
	s.out.boxed = s.out.boxed || o.boxed
	s.out.ways.hook = cmp.Or(s.out.ways.hook, o.ways.hook)
	s.out.spawned = s.out.spawned || o.spawned
	s.out.text.join(o.text)
	if o.global != "" {
		s.out.global = o.global
	}
	if o.unknown != "" {
		s.unknown(o.unknown)
	}
	if o.results != 0 && result != nil {
		s.out.back = true
		s.results(result, o)
	}
	for i := range len(c.Args) + 1 {
		if a := flow.Argument(c, i); o.params&bit(i) != 0 && a != nil {
			s.store(a, o.field)
		}
	}
	if o.free != 0 {
		if mc, ok := c.Value.(*ssa.MakeClosure); ok {
			s.intoBindings(mc, o.free)
		}
	}
}

// results queues the results of a call that hold the object.
func (s *scan) results(call *ssa.Call, o *outcome) {
	m := func(i int) mode {
		if o.wraps&bit(i) != 0 {
			return container
		}
		return direct
	}
	if call.Call.Signature().Results().Len() < 2 {
		s.add(call, m(0))
		return
	}
	for _, in := range *call.Referrers() {
		if e, ok := in.(*ssa.Extract); ok && o.results&bit(e.Index) != 0 {
			s.add(e, m(e.Index))
		}
	}
}

func (s *scan) intoBindings(mc *ssa.MakeClosure, free uint64) {
	for i, b := range mc.Bindings {
		if free&bit(i) != 0 {
			s.store(b, "")
		}
	}
}

// handed starts a caller's scan with what left its callee.
func (s *scan) handed(in ssa.CallInstruction, o *outcome) {
	c := in.Common()
	if result, ok := in.(*ssa.Call); ok && o.results != 0 {
		s.results(result, o)
	}
	for i := range len(c.Args) + 1 {
		if a := flow.Argument(c, i); o.params&bit(i) != 0 && a != nil {
			s.store(a, o.field)
		}
	}
	if o.free != 0 {
		if mc, ok := c.Value.(*ssa.MakeClosure); ok {
			s.intoBindings(mc, o.free)
		} else {
			s.unknown("the variables that a closure captures")
		}
	}
	if _, ok := in.(*ssa.Go); ok && o.params != 0 && !joins(s.fn) {
		s.out.shared = true
	}
}

// notRead notes the package of a function whose body was not read.
func (s *scan) notRead(callee *ssa.Function) {
	if callee == nil {
		return
	}
	if pkg := flow.Origin(callee).Package(); pkg != nil && pkg.Pkg.Path() != "runtime" { // large, and of addresses, not of values
		s.missing[pkg.Pkg.Path()] = true
	}
}

// summary answers a question about a callee, once.
func (s *scan) summary(q question) *outcome {
	if o, ok := s.summaries[q]; ok {
		return o
	}
	if s.depth >= maxDepth {
		return &outcome{unknown: "calls that are nested deeply"}
	}
	o := &outcome{}
	s.summaries[q] = o // for recursive calls
	inner := &scan{
		Tracer: s.Tracer, fn: q.fn, out: o, ref: q.ref, seen: map[held]bool{}, filled: map[ssa.Value]bool{}, depth: s.depth + 1,
	}
	inner.add(q.value, q.mode)
	inner.run()
	return o
}

// capture follows the object into a closure that captures it, and the closure itself.
func (s *scan) capture(h held, mc *ssa.MakeClosure) {
	fn := mc.Fn.(*ssa.Function)
	for i, b := range mc.Bindings {
		if b != h.value {
			continue
		}
		o := s.summary(question{fn, fn.FreeVars[i], h.mode, s.ref})
		s.out.shared = s.out.shared || o.shared
		if o.global != "" {
			s.out.global = o.global
		}
		if o.unknown != "" {
			s.unknown(o.unknown)
		}
		if o.results|o.params != 0 {
			s.unknown("who calls the closure")
		}
		s.intoBindings(mc, o.free&^bit(i))
	}
	s.add(mc, container)
}

// builtin follows the object through a call of a built-in function.
func (s *scan) builtin(h held, name string, in ssa.CallInstruction) {
	c := in.Common()
	result, _ := in.(*ssa.Call)
	switch name {
	case "append":
		switch {
		case result == nil:
		case c.Args[0] == h.value:
			s.add(result, h.mode)
		case h.mode == container: // the elements are copied, and with them the references
			s.add(result, container)
			s.store(c.Args[0], "")
		}
	case "copy":
		if h.mode == container && len(c.Args) == 2 && c.Args[1] == h.value {
			s.store(c.Args[0], "")
		}
	case "ssa:wrapnilchk", "min", "max", "String", "Slice", "StringData", "SliceData", "Add":
		if result != nil {
			s.add(result, h.mode)
		}
	}
}

// constructs reports whether a function of the standard library makes what it returns.
func constructs(fn *ssa.Function) bool {
	return fn.Pkg != nil && flow.Standard(fn.Pkg.Pkg.Path()) && fn.Signature.Recv() == nil && strings.HasPrefix(fn.Name(), "New")
}

// calleeName is the function or method of a call, for people.
func calleeName(c *ssa.CallCommon) string {
	switch callee := c.StaticCallee(); {
	case c.IsInvoke():
		return c.Value.Type().String() + "." + c.Method.Name()
	case callee != nil:
		return flow.NameOf(callee)
	}
	return "a function value"
}
