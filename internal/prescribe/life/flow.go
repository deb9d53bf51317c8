package life

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"golang.org/x/tools/go/ssa"
)

// mode says how a value holds the object.
type mode int8

const (
	direct    mode = iota // the value refers to the object
	container             // the value, or memory that it refers to, holds a reference to the object
	outside               // a container that the function was given: what else is done with it is its owner's business
)

// held is a value with its mode.
type held struct {
	value ssa.Value
	mode  mode
}

// question asks what a function does with one of its parameters or captured variables.
type question struct {
	fn    *ssa.Function
	value ssa.Value
	mode  mode
	ref   types.Type
}

// outcome is how an object leaves a function.
type outcome struct {
	results uint64 // bits of the results that hold it
	params  uint64 // bits of the parameters that it is stored into, the receiver first
	free    uint64 // bits of the captured variables that it is stored into
	global  string // package variable that keeps it, or another thing that outlives every call
	shared  bool   // handed to another goroutine
	unknown string // what could not be seen through

	spawned bool // a goroutine that is waited for uses it

	text  textUse
	boxed bool     // on the way it becomes an interface value
	back  bool     // a call that it is handed to returns it, or part of what it returns
	field string   // field that it is stored in on the way
	wraps uint64   // bits of the results of which it is only a part
	here  returned // of the calls that returned it here
	ways  ways
	part  map[token.Pos]bool // objects of the function that it becomes part of, by where they are made
}

// returned is what becomes of a call's result.
type returned struct {
	drops bool // each call's is dropped
	keeps bool // that of an earlier call may still be in use
}

// leaves reports whether the object outlives the function by what its callers can see.
func (o *outcome) leaves() bool { return o.results|o.params|o.free != 0 }

// scan follows an object through one function.
type scan struct {
	*Tracer
	fn    *ssa.Function
	out   *outcome
	ref   types.Type // of the references to the object; nil when not known
	seen  map[held]bool
	queue []held
	// what the object was found to become part of
	filled map[ssa.Value]bool
	depth  int
	asked  int // origins of values
}

// mostOrigins bounds how often a scan asks where a value comes from: calls of calls are many. Beyond it
// the answer is that it is not known.
const mostOrigins = 4000

func (t *Tracer) scan(fn *ssa.Function) *scan {
	return &scan{Tracer: t, fn: fn, out: &outcome{}, seen: map[held]bool{}, filled: map[ssa.Value]bool{}}
}

// add queues a value that may hold the object.
func (s *scan) add(v ssa.Value, m mode) {
	if v == nil || !refers(v.Type(), 0) {
		return
	}
	if h := (held{v, m}); !s.seen[h] {
		s.seen[h] = true
		s.queue = append(s.queue, h)
	}
}

// run follows all queued values and returns the outcome.
func (s *scan) run() *outcome {
	for len(s.queue) > 0 {
		h := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		if refs := h.value.Referrers(); refs != nil {
			for _, in := range *refs {
				s.use(h, in)
			}
		}
	}
	return s.out
}

// unknown notes the first thing that could not be seen through.
func (s *scan) unknown(what string) {
	if s.out.unknown == "" {
		s.out.unknown = what
	}
}

// use follows a value through one instruction.
func (s *scan) use(h held, in ssa.Instruction) {
	s.asText(h, in)
	switch in := in.(type) {
	case *ssa.Phi, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.Slice, *ssa.SliceToArrayPointer:
		s.add(in.(ssa.Value), h.mode)
	case *ssa.MakeInterface:
		s.out.boxed = true
		s.add(in, h.mode)
	case *ssa.TypeAssert, *ssa.Next, *ssa.Range:
		s.add(in.(ssa.Value), h.mode)
	case *ssa.Extract:
		_, entry := in.Tuple.(*ssa.Next)
		switch {
		case isError(in.Type()): // beside a result
		case entry && h.mode == direct: // a map's memory has no address of an entry
		case h.mode != direct:
			s.read(in, h.mode)
		default:
			s.add(in, direct)
		}
	case *ssa.Field:
		if h.mode != direct {
			s.read(in, h.mode)
		} else {
			s.add(in, direct)
		}
	case *ssa.FieldAddr, *ssa.IndexAddr:
		s.add(in.(ssa.Value), h.mode)
	case *ssa.Index, *ssa.Lookup:
		if h.mode != direct {
			s.read(in.(ssa.Value), h.mode)
		}
	case *ssa.UnOp:
		s.load(h, in)
	case *ssa.Convert:
		if isUnsafe(in.X.Type()) {
			s.unknown("what an unsafe.Pointer leads to")
		}
		if !copies(in) {
			s.add(in, h.mode)
		}
	case *ssa.Store:
		if in.Val == h.value {
			s.way(h, in)
			s.partOf(h, in.Addr)
			s.store(in.Addr, fieldOf(in.Addr))
		}
	case *ssa.MapUpdate:
		if in.Value == h.value || in.Key == h.value {
			s.way(h, in)
			s.store(in.Map, "")
		}
	case *ssa.Send:
		if in.X == h.value {
			s.out.shared = true
		}
	case *ssa.Select:
		sends := func(state *ssa.SelectState) bool { return state.Send == h.value }
		s.out.shared = s.out.shared || slices.ContainsFunc(in.States, sends)
	case *ssa.Go:
		s.way(h, in)
		if joins(s.fn) {
			s.out.spawned = true
			s.call(h, in)
		} else {
			s.out.shared = true
		}
	case *ssa.MakeClosure:
		s.way(h, in)
		s.capture(h, in)
	case *ssa.Panic: // recover returns the argument
		s.way(h, in)
	case *ssa.Return:
		s.way(h, in)
		s.returned(h, in)
	case ssa.CallInstruction:
		s.call(h, in)
	}
}

// way notes where a reference to the object itself is put elsewhere. An instruction without a
// place counts as one at the function.
func (s *scan) way(h held, in ssa.Instruction) {
	if h.mode != direct {
		return
	}
	if s.out.ways.at == nil {
		s.out.ways.at = map[token.Pos]bool{}
	}
	at := place(in)
	if !at.IsValid() {
		at = s.fn.Pos()
	}
	s.out.ways.at[at] = true
}

// joins reports whether a function waits for the goroutines that it starts.
func joins(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(ssa.CallInstruction); ok {
				if callee := call.Common().StaticCallee(); callee != nil && flow.NameOf(callee) == "sync.(*WaitGroup).Wait" {
					return true
				}
			}
		}
	}
	return false
}

// load follows what is read through a pointer into memory that holds the object.
func (s *scan) load(h held, in *ssa.UnOp) {
	if (in.Op == token.MUL || in.Op == token.ARROW) && h.mode != direct {
		s.read(in, h.mode)
	}
}

// read queues what was read from memory that holds the object, if it can be the object or
// lead to it.
func (s *scan) read(v ssa.Value, m mode) {
	switch {
	case s.refersTo(v.Type()):
		s.add(v, direct)
	case s.ref == nil || mayHold(v.Type(), s.refersTo, map[types.Type]bool{}):
		s.add(v, m)
	}
}

// refersTo reports whether a type is that of references to the object.
func (s *scan) refersTo(t types.Type) bool {
	if s.ref == nil {
		return false
	}
	t, ref := t.Underlying(), s.ref.Underlying()
	if types.Identical(t, ref) {
		return true
	}
	if p, ok := ref.(*types.Pointer); ok {
		if a, ok := p.Elem().Underlying().(*types.Array); ok {
			sl, ok := t.(*types.Slice)
			return ok && types.Identical(sl.Elem(), a.Elem())
		}
	}
	return false
}

// mayHold reports whether values of a type can lead to a reference of another type.
func mayHold(t types.Type, is func(types.Type) bool, seen map[types.Type]bool) bool {
	if is(t) {
		return true
	}
	if seen[t] {
		return false
	}
	seen[t] = true
	in := func(t types.Type) bool { return mayHold(t, is, seen) }
	switch u := t.Underlying().(type) {
	case *types.Interface, *types.Signature, *types.TypeParam:
		return true
	case *types.Pointer:
		return in(u.Elem())
	case *types.Slice:
		return in(u.Elem())
	case *types.Array:
		return in(u.Elem())
	case *types.Chan:
		return in(u.Elem())
	case *types.Map:
		return in(u.Key()) || in(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if in(f.Type()) {
				return true
			}
		}
	case *types.Tuple:
		for v := range u.Variables() {
			if in(v.Type()) {
				return true
			}
		}
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	}
	return false
}

// copies reports whether a conversion makes new memory: between text and bytes, or of a rune to text.
func copies(c *ssa.Convert) bool {
	b, from := c.X.Type().Underlying().(*types.Basic)
	text, to := c.Type().Underlying().(*types.Basic)
	if from && to {
		return b.Info()&types.IsInteger != 0 && text.Info()&types.IsString != 0
	}
	return from != to && !isUnsafe(c.X.Type()) && !isUnsafe(c.Type())
}

func isUnsafe(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// refers reports whether values of a type can refer to memory of the heap.
func refers(t types.Type, depth int) bool {
	if depth > 8 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0 || u.Kind() == types.UnsafePointer || u.Kind() == types.Invalid
	case *types.Array:
		return refers(u.Elem(), depth+1)
	case *types.Struct:
		for i := range u.NumFields() {
			if refers(u.Field(i).Type(), depth+1) {
				return true
			}
		}
		return false
	case *types.Tuple:
		for i := range u.Len() {
			if refers(u.At(i).Type(), depth+1) {
				return true
			}
		}
		return false
	}
	return true
}

// returned notes the results that hold the object.
func (s *scan) returned(h held, in *ssa.Return) {
	for i, r := range in.Results {
		if r == h.value {
			s.out.results |= bit(i)
			if h.mode != direct {
				s.out.wraps |= bit(i)
			}
		}
	}
}

// store notes that the object is put into memory behind an address, a map, or another
// holder, and follows that.
func (s *scan) store(holder ssa.Value, field string) {
	if field != "" {
		s.out.field = field
	}
	for _, r := range rootsOf(holder) {
		s.into(r)
	}
}

// into notes that the object becomes part of what a root refers to.
func (s *scan) into(r ssa.Value) {
	if s.filled[r] {
		return
	}
	s.filled[r] = true
	switch r := r.(type) {
	case *ssa.Global:
		s.out.global = r.Name()
	case *ssa.Parameter:
		for i, p := range s.fn.Params {
			if p == r {
				s.out.params |= bit(i)
			}
		}
		s.add(r, outside)
	case *ssa.FreeVar:
		for i, f := range s.fn.FreeVars {
			if f == r {
				s.out.free |= bit(i)
			}
		}
		s.add(r, outside)
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan, *ssa.MakeInterface, *ssa.MakeClosure:
		s.add(r, container)
	case *ssa.Call:
		s.intoResult(r)
	case *ssa.Convert:
		if isUnsafe(r.X.Type()) {
			s.unknown("what an unsafe.Pointer leads to")
		}
	case *ssa.Const, *ssa.Builtin, *ssa.Function:
	default:
		s.unknown("what it is stored in")
	}
}

// intoResult notes that the object becomes part of what a call returned: something new,
// or something that was there before.
func (s *scan) intoResult(call *ssa.Call) {
	s.add(call, container)
	c := call.Common()
	callee := c.StaticCallee()
	switch {
	case callee == nil:
		s.unknown("what " + calleeName(c) + " returns")
	case flow.NameOf(callee) == "sync.(*Pool).Get":
		s.out.global = "an object of a pool"
	case constructs(callee):
	default:
		o := s.origins(callee, 0)
		for i := range c.Args {
			if o.params&bit(i) != 0 {
				s.store(c.Args[i], "")
			}
		}
		if o.global != "" {
			s.out.global = o.global
		}
		if o.unknown != "" {
			s.unknown("what " + calleeName(c) + " returns")
		}
	}
}

// origins says where the memory comes from that a function returns first: from parameters or
// variables, or, with an empty outcome, from itself.
func (s *scan) origins(fn *ssa.Function, depth int) outcome {
	var out outcome
	if fn.Blocks == nil || depth > 3 || s.asked > mostOrigins {
		out.unknown = fn.Name()
		return out
	}
	for _, b := range fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok || len(ret.Results) == 0 {
			continue
		}
		for _, r := range rootsOf(ret.Results[0]) {
			s.originOf(r, fn, depth, &out)
		}
	}
	return out
}

func (s *scan) originOf(r ssa.Value, fn *ssa.Function, depth int, out *outcome) {
	if s.asked++; s.asked > mostOrigins {
		out.unknown = fn.Name()
		return
	}
	switch r := r.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice, *ssa.MakeChan, *ssa.MakeClosure, *ssa.Const:
	case *ssa.Parameter:
		for i, p := range fn.Params {
			if p == r {
				out.params |= bit(i)
			}
		}
	case *ssa.Global:
		out.global = r.Name()
	case *ssa.Call:
		callee := r.Common().StaticCallee()
		switch {
		case callee == nil, depth > 3:
			out.unknown = fn.Name()
		case constructs(callee):
		default:
			inner := s.origins(callee, depth+1)
			out.global, out.unknown = cmp.Or(out.global, inner.global), cmp.Or(out.unknown, inner.unknown)
			for i, a := range r.Call.Args {
				if inner.params&bit(i) == 0 {
					continue
				}
				for _, root := range rootsOf(a) {
					s.originOf(root, fn, depth+1, out)
				}
			}
		}
	default:
		out.unknown = fn.Name()
	}
}

// rootsOf goes back to what a holder's memory belongs to.
func rootsOf(v ssa.Value) []ssa.Value {
	var out []ssa.Value
	seen := map[ssa.Value]bool{}
	var walk func(v ssa.Value)
	walk = func(v ssa.Value) {
		if v == nil || seen[v] || len(seen) > 200 {
			return
		}
		seen[v] = true
		switch v := v.(type) {
		case *ssa.FieldAddr:
			walk(v.X)
		case *ssa.IndexAddr:
			walk(v.X)
		case *ssa.Field:
			walk(v.X)
		case *ssa.Index:
			walk(v.X)
		case *ssa.Lookup:
			walk(v.X)
		case *ssa.Slice:
			walk(v.X)
		case *ssa.SliceToArrayPointer:
			walk(v.X)
		case *ssa.ChangeType:
			walk(v.X)
		case *ssa.ChangeInterface:
			walk(v.X)
		case *ssa.TypeAssert:
			walk(v.X)
		case *ssa.MakeInterface:
			walk(v.X)
		case *ssa.Extract:
			walk(v.Tuple)
		case *ssa.Next:
			walk(v.Iter)
		case *ssa.Range:
			walk(v.X)
		case *ssa.Phi:
			for _, e := range v.Edges {
				walk(e)
			}
		case *ssa.UnOp:
			loaded(v, walk)
		case *ssa.Call:
			if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
				walk(v.Call.Args[0])
				return
			}
			out = append(out, v)
		default:
			out = append(out, v)
		}
	}
	walk(v)
	return out
}

// loaded goes on from a value that was read from memory: with what was stored there, if
// that is a local variable; else with the memory's own root.
func loaded(v *ssa.UnOp, walk func(ssa.Value)) {
	a, ok := v.X.(*ssa.Alloc)
	if !ok {
		walk(v.X)
		return
	}
	stored := false
	for _, in := range *a.Referrers() {
		if st, ok := in.(*ssa.Store); ok && st.Addr == a {
			stored = true
			walk(st.Val)
		}
	}
	if !stored {
		walk(a)
	}
}

// fieldOf names the field that an address belongs to; "" for none.
func fieldOf(addr ssa.Value) string {
	f, ok := addr.(*ssa.FieldAddr)
	if !ok {
		return ""
	}
	p, ok := f.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return ""
	}
	st, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return ""
	}
	return st.Field(f.Field).Name()
}
