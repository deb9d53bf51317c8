// Package boxes looks at values that are put into interfaces: where they come from, and what else goes where they go.
package boxes

import (
	"go/token"
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Of looks at the values that a line puts into interfaces, among the functions of its program. Constants are left out:
// they need no memory.
func Of(values []ssa.Value, functions iter.Seq[*ssa.Function]) finding.Box {
	p := &program{functions}
	var all []*ssa.MakeInterface
	for _, v := range values {
		boxed, ok := v.(*ssa.MakeInterface)
		if !ok {
			return finding.Box{}
		}
		if _, constant := boxed.X.(*ssa.Const); !constant {
			all = append(all, boxed)
		}
	}
	if len(all) == 0 {
		return finding.Box{}
	}
	out := finding.Box{
		Constant: !slices.ContainsFunc(all, func(b *ssa.MakeInterface) bool { return !p.constant(b.X) }),
		Handed:   !slices.ContainsFunc(all, func(b *ssa.MakeInterface) bool { return !handed(b) }),
		Before:   !slices.ContainsFunc(all, func(b *ssa.MakeInterface) bool { return !before(b, all) }),
	}
	if len(all) == 1 {
		out.Settled = p.settled(all[0].X)
		if field := p.sole(all[0]); field != nil {
			out.Field = field.Name()
		} else {
			out.Field = p.holding(all[0])
		}
		if out.Field != "" {
			out.Type = types.TypeString(all[0].X.Type(), types.RelativeTo(all[0].Parent().Package().Pkg))
		}
	}
	return out
}

// handed reports whether functions that get an interface value hand it to the standard library, and do nothing else with
// it: the library asks for the type of the value, so the function has to hand over an interface.
func handed(boxed *ssa.MakeInterface) bool {
	return slices.ContainsFunc(*boxed.Referrers(), func(in ssa.Instruction) bool {
		call, ok := in.(*ssa.Call)
		if !ok || call.Call.StaticCallee() == nil {
			return false
		}
		i := slices.Index(call.Call.Args, ssa.Value(boxed))
		callee := call.Call.StaticCallee()
		if i < 0 || i >= len(callee.Params) {
			return false
		}
		uses := 0
		for _, use := range *callee.Params[i].Referrers() {
			if _, debug := use.(*ssa.DebugRef); debug {
				continue
			}
			to, ok := use.(*ssa.Call)
			if !ok || to.Call.StaticCallee() == nil || to.Call.StaticCallee().Pkg == nil || !flow.Standard(to.Call.StaticCallee().Pkg.Pkg.Path()) {
				return false
			}
			uses++
		}
		return uses > 0
	})
}

type program struct {
	functions iter.Seq[*ssa.Function]
}

// constant reports whether a value is that of a package variable, or of an element of one, that only the package's
// initialization sets.
func (p *program) constant(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.ChangeType:
		return p.constant(v.X)
	case *ssa.UnOp:
		if v.Op != token.MUL {
			return false
		}
		if g, ok := v.X.(*ssa.Global); ok {
			return p.neverSet(g, false)
		}
		at, ok := v.X.(*ssa.IndexAddr)
		return ok && p.table(at.X)
	case *ssa.Lookup:
		return p.table(v.X)
	case *ssa.Extract:
		switch from := v.Tuple.(type) {
		case *ssa.Lookup:
			return v.Index == 0 && p.table(from.X)
		case *ssa.Next:
			r, ok := from.Iter.(*ssa.Range)
			return ok && v.Index > 0 && p.table(r.X)
		}
	}
	return false
}

// table reports whether a map, slice or array is a package variable that nothing sets, and whose elements nothing sets.
func (p *program) table(v ssa.Value) bool {
	if load, ok := v.(*ssa.UnOp); ok && load.Op == token.MUL {
		v = load.X
	}
	g, ok := v.(*ssa.Global)
	return ok && p.neverSet(g, true)
}

// NeverSet reports whether a variable of a package keeps the value of its initialization: no function sets it, or writes to
// memory that it refers to.
func NeverSet(g *ssa.Global, functions iter.Seq[*ssa.Function]) bool {
	p := &program{functions}
	_, plain := g.Type().(*types.Pointer).Elem().Underlying().(*types.Basic)
	return p.neverSet(g, !plain)
}

// neverSet reports whether no function takes a variable's address or sets it, and with elements, whether none does
// anything but look at these.
func (p *program) neverSet(g *ssa.Global, elements bool) bool {
	if g.Object() == nil || g.Object().Exported() {
		return false // other packages may set it
	}
	for fn := range p.functions {
		if fn.Synthetic == "package initializer" {
			continue
		}
		for in := range flow.Instructions(fn) {
			if slices.ContainsFunc(in.Operands(nil), func(v *ssa.Value) bool { return *v == ssa.Value(g) }) && !onlyLooks(in, g, elements) {
				return false
			}
		}
	}
	return true
}

// onlyLooks reports whether an instruction that names a variable reads it, and with elements, its elements alone.
func onlyLooks(in ssa.Instruction, g *ssa.Global, elements bool) bool {
	switch in := in.(type) {
	case *ssa.DebugRef:
		return true
	case *ssa.UnOp:
		return in.Op == token.MUL && in.X == ssa.Value(g) && (!elements || looks(in))
	case *ssa.IndexAddr:
		return elements && looks(in)
	}
	return false
}

// looks reports whether elements of a map, slice or array are only read.
func looks(v ssa.Value) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef, *ssa.Index:
			return false
		case *ssa.Lookup:
			return in.X != v
		case *ssa.Range:
			return false
		case *ssa.IndexAddr:
			return in.X != v || !looks(in)
		case *ssa.UnOp:
			return in.Op != token.MUL // of an element's address
		case *ssa.Call:
			b, ok := in.Call.Value.(*ssa.Builtin)
			return !ok || b.Name() != "len" && b.Name() != "cap"
		}
		return true
	})
}

// sole is the field whose container gets values of the boxed type alone, where a method of the container gets this one;
// nil where other values may get there.
func (p *program) sole(boxed *ssa.MakeInterface) *types.Var {
	for _, in := range *boxed.Referrers() {
		call, ok := in.(*ssa.Call)
		if !ok || !fillsOwn(call) || call.Call.Args[0] == ssa.Value(boxed) {
			continue
		}
		field := fieldOf(call.Call.Args[0])
		if field == nil || flow.Field(field).Exported() || !p.onlyGets(field, boxed.X.Type()) || p.fillsItself(call.Call.StaticCallee(), boxed.X.Type()) {
			return nil
		}
		return flow.Field(field)
	}
	return nil
}

// fillsOwn reports whether a call is one of a method whose body was read.
func fillsOwn(call *ssa.Call) bool {
	callee := call.Call.StaticCallee()
	return callee != nil && callee.Signature.Recv() != nil && callee.Blocks != nil
}

// fieldOf is the field that a receiver is, or that its pointer is read from; nil for others.
func fieldOf(recv ssa.Value) *ssa.FieldAddr {
	if load, ok := recv.(*ssa.UnOp); ok && load.Op == token.MUL {
		recv = load.X
	}
	f, _ := recv.(*ssa.FieldAddr)
	return f
}

// onlyGets reports whether all that functions do with a field is to give it a new container, or to call methods that get
// interface values of one type.
func (p *program) onlyGets(field *ssa.FieldAddr, t types.Type) bool {
	for fn := range p.functions {
		for in := range flow.Instructions(fn) {
			f, ok := in.(*ssa.FieldAddr)
			if ok && flow.Field(f) == flow.Field(field) && !onlyCalled(f, t) {
				return false
			}
		}
	}
	return true
}

// onlyCalled reports whether a container, its field or the pointer in it, is only the receiver of calls.
func onlyCalled(v ssa.Value, t types.Type) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.DebugRef:
			return false
		case *ssa.Store:
			return in.Addr != v || !isNew(in.Val)
		case *ssa.UnOp:
			return in.Op != token.MUL || !onlyCalled(in, t)
		case *ssa.FieldAddr:
			return !plain(flow.Field(in).Type())
		case *ssa.Call:
			return !fillsOwn(in) || in.Call.Args[0] != v || slices.ContainsFunc(in.Call.Args[1:], func(a ssa.Value) bool { return other(a, t) })
		}
		return true
	})
}

// fillsItself reports whether a method of a container, the same as one of its methods, makes an interface value of
// another type, other than for a panic.
func (p *program) fillsItself(method *ssa.Function, t types.Type) bool {
	for fn := range p.functions {
		if recv := fn.Signature.Recv(); recv == nil || !types.Identical(recv.Type(), method.Signature.Recv().Type()) {
			continue
		}
		for in := range flow.Instructions(fn) {
			boxed, ok := in.(*ssa.MakeInterface)
			if ok && !types.Identical(boxed.X.Type(), t) && slices.ContainsFunc(*boxed.Referrers(), func(u ssa.Instruction) bool { _, panics := u.(*ssa.Panic); return !panics }) {
				return true
			}
		}
	}
	return false
}

// isNew reports whether a value is a container that nothing was put into in another place: made here, or by a function
// without arguments that returns what it makes.
func isNew(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.Const:
		return true
	case *ssa.Call:
		callee := v.Call.StaticCallee()
		if len(v.Call.Args) > 0 || callee == nil || callee.Blocks == nil {
			return false
		}
		for in := range flow.Instructions(callee) {
			if r, ok := in.(*ssa.Return); ok && slices.ContainsFunc(r.Results, func(v ssa.Value) bool { _, made := v.(*ssa.Alloc); return !made }) {
				return false
			}
		}
		return true
	}
	return false
}

// other reports whether an argument is, or may hold, an interface value of another type.
func other(a ssa.Value, t types.Type) bool {
	if boxed, ok := a.(*ssa.MakeInterface); ok {
		return !types.Identical(boxed.X.Type(), t)
	}
	return !plain(a.Type())
}

// plain reports whether values of a type hold no interface values: numbers, texts, pointers to and slices of these, and
// functions.
func plain(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Signature:
		return true
	case *types.Pointer:
		_, basic := u.Elem().Underlying().(*types.Basic)
		return basic
	case *types.Slice:
		_, basic := u.Elem().Underlying().(*types.Basic)
		return basic
	}
	return false
}
