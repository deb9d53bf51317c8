// Package flow answers questions about SSA form that several readers of code have.
package flow

import (
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// mostCalls is how deep Harmless follows calls.
const mostCalls = 4

// Harmless reports whether a call does nothing but to return what it makes, so that it could be left out where nobody
// uses that. Of code that was not read, only those that Pure lists, fmt.Errorf, and functions that make something by the
// name of New count as harmless.
func Harmless(c *ssa.CallCommon) bool { return harmless(c, mostCalls) }

// Pure reports whether a library function gives equal results for equal arguments and has no
// effects.
func Pure(callee string) bool {
	pkg, _, _ := strings.Cut(callee, ".")
	switch pkg {
	case "strings", "strconv", "bytes", "path", "path/filepath", "html", "regexp", "net/netip":
		return !strings.Contains(callee, "(*") && !strings.Contains(callee, ".New")
	}
	for _, f := range []string{"fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln", "reflect.TypeOf", "net/url.QueryEscape", "net/url.PathEscape", "encoding/hex.EncodeToString"} {
		if callee == f {
			return true
		}
	}
	return false
}

func harmless(c *ssa.CallCommon, deep int) bool {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "len", "cap", "append", "min", "max", "complex", "real", "imag", "String", "StringData", "Slice", "SliceData", "ssa:wrapnilchk":
			return true
		}
		return false
	}
	fn := c.StaticCallee()
	if fn == nil {
		return false
	}
	if fn.Blocks == nil {
		obj, ok := fn.Object().(*types.Func)
		if !ok || obj.Pkg() == nil {
			return false
		}
		name := obj.Pkg().Path() + "." + obj.Name()
		if recv := obj.Signature().Recv(); recv != nil {
			_, pointer := recv.Type().(*types.Pointer)
			return !pointer && Pure(name)
		}
		return strings.HasPrefix(obj.Name(), "New") || name == "fmt.Errorf" || Pure(name)
	}
	if deep == 0 {
		return false
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if !quiet(in, deep) {
				return false
			}
		}
	}
	return true
}

// quiet reports whether an instruction changes nothing that its function did not make.
func quiet(in ssa.Instruction, deep int) bool {
	switch in := in.(type) {
	case *ssa.Store:
		return ofOwn(in.Addr)
	case *ssa.MapUpdate:
		return ofOwn(in.Map)
	case *ssa.Call:
		return harmless(&in.Call, deep-1)
	case *ssa.Send, *ssa.Go, *ssa.Defer, *ssa.RunDefers, *ssa.Panic, *ssa.Select:
		return false
	case *ssa.UnOp:
		return in.Op != token.ARROW
	}
	return true
}

// ofOwn reports whether an address or a map is of what the function made itself.
func ofOwn(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		return true
	case *ssa.FieldAddr:
		return ofOwn(v.X)
	case *ssa.IndexAddr:
		return ofOwn(v.X)
	case *ssa.Slice:
		return ofOwn(v.X)
	case *ssa.UnOp: // the value of a field of an own object
		f, ok := v.X.(*ssa.FieldAddr)
		if !ok {
			return false
		}
		owner, ok := f.X.(*ssa.Alloc)
		return ok && onlyOwn(owner, f.Field)
	}
	return false
}

// onlyOwn reports whether a function stores in a field of an object only values that it made itself.
func onlyOwn(owner *ssa.Alloc, field int) bool {
	return !slices.ContainsFunc(*owner.Referrers(), func(in ssa.Instruction) bool {
		f, ok := in.(*ssa.FieldAddr)
		if !ok {
			st, whole := in.(*ssa.Store)
			return whole && st.Addr == ssa.Value(owner)
		}
		return f.Field == field && slices.ContainsFunc(*f.Referrers(), func(in ssa.Instruction) bool {
			st, ok := in.(*ssa.Store)
			return ok && !made(st.Val)
		})
	})
}

// made reports whether a value is nothing, or a map or slice that its function made.
func made(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Const, *ssa.MakeMap, *ssa.MakeSlice:
		return true
	case *ssa.Slice:
		_, own := v.X.(*ssa.Alloc)
		return own
	}
	return false
}

// Bounds reports whether an instruction is in a branch of a condition that compares numbers by their order: what it does
// there keeps something within a bound.
func Bounds(in ssa.Instruction) bool {
	for b := in.Block(); len(b.Preds) == 1 && (strings.HasPrefix(b.Comment, "if.") || strings.HasPrefix(b.Comment, "cond.")); b = b.Preds[0] {
		test, ok := b.Preds[0].Instrs[len(b.Preds[0].Instrs)-1].(*ssa.If)
		if !ok {
			return false
		}
		if cmp, ok := test.Cond.(*ssa.BinOp); ok {
			switch cmp.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				return true
			}
		}
	}
	return false
}

// Carried reports whether a value that a loop makes, or what refers to it, is still there in the loop's next turn: a
// variable or something else from before the loop has it then.
func Carried(v ssa.Value) bool {
	in, ok := v.(ssa.Instruction)
	if !ok || !reaches(in.Block(), in.Block()) {
		return false
	}
	c := &carrying{in.Block(), map[ssa.Value]bool{}}
	return c.on(v)
}

type carrying struct {
	turn *ssa.BasicBlock // where the value is made
	seen map[ssa.Value]bool
}

// on reports whether one of the uses of a value carries it on.
func (c *carrying) on(v ssa.Value) bool {
	if c.seen[v] || v.Referrers() == nil || isNumber(v.Type()) {
		return false
	}
	c.seen[v] = true
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.Phi:
			return in.Block().Dominates(c.turn) || c.on(in)
		case *ssa.Store:
			return in.Val == v && c.into(in.Addr)
		case *ssa.MapUpdate:
			return (in.Value == v || in.Key == v) && c.into(in.Map)
		case *ssa.Slice, *ssa.ChangeType, *ssa.MakeInterface, *ssa.Extract, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Field, *ssa.Index, *ssa.UnOp:
			return c.on(in.(ssa.Value))
		case *ssa.Call:
			return passes(&in.Call) && c.on(in) || keeps(&in.Call, v)
		}
		return false
	})
}

// isNumber reports whether values of a type refer to nothing: numbers and truth values.
func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsNumeric|types.IsBoolean) != 0
}

// into reports whether what a value is stored in is there in the next turn, too.
func (c *carrying) into(v ssa.Value) bool {
	switch at := v.(type) {
	case *ssa.FieldAddr:
		return c.into(at.X)
	case *ssa.IndexAddr:
		return c.into(at.X)
	case *ssa.Slice:
		return c.into(at.X)
	}
	in, ok := v.(ssa.Instruction)
	if !ok || !reaches(c.turn, in.Block()) {
		return true // a parameter, a variable of the package, or made before the loop
	}
	return c.on(v)
}

// passes reports whether the result of a call may be a part of its arguments: appended to, or cut out of a text.
func passes(c *ssa.CallCommon) bool {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return b.Name() == "append"
	}
	fn := c.StaticCallee()
	return fn != nil && fn.Pkg != nil && (fn.Pkg.Pkg.Path() == "strings" || fn.Pkg.Pkg.Path() == "bytes")
}

// Before reports whether an instruction may run before another one of its function.
func Before(a, b ssa.Instruction) bool {
	if a.Block() == b.Block() && slices.Index(a.Block().Instrs, a) < slices.Index(a.Block().Instrs, b) {
		return true
	}
	return reaches(a.Block(), b.Block())
}

// Repeats reports whether an instruction is in a loop of its function.
func Repeats(in ssa.Instruction) bool { return reaches(in.Block(), in.Block()) }

// reaches reports whether a block can run after another one, or after itself.
func reaches(from, to *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	var visit func(b *ssa.BasicBlock) bool
	visit = func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Succs, func(s *ssa.BasicBlock) bool {
			if s == to {
				return true
			}
			if seen[s] {
				return false
			}
			seen[s] = true
			return visit(s)
		})
	}
	return visit(from)
}

// CopiedToReceiver reports whether a value is a new copy of a slice that is stored in a field of the receiver.
func CopiedToReceiver(v ssa.Value) bool {
	c, ok := v.(*ssa.Call)
	if !ok || c.Parent().Signature.Recv() == nil || !copiesSlice(c) {
		return false
	}
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		st, ok := in.(*ssa.Store)
		if !ok || st.Val != v {
			return false
		}
		f, ok := st.Addr.(*ssa.FieldAddr)
		return ok && f.X == ssa.Value(c.Parent().Params[0])
	})
}

// copiesSlice reports whether a call copies all of a slice to a new one.
func copiesSlice(c *ssa.Call) bool {
	if fn := c.Call.StaticCallee(); fn != nil {
		if origin := fn.Origin(); origin != nil {
			fn = origin
		}
		return fn.String() == "bytes.Clone" || fn.String() == "slices.Clone"
	}
	b, ok := c.Call.Value.(*ssa.Builtin)
	if !ok || b.Name() != "append" || len(c.Call.Args) != 2 {
		return false
	}
	switch to := c.Call.Args[0].(type) {
	case *ssa.Const:
		return to.IsNil()
	case *ssa.Slice:
		a, ok := to.X.(*ssa.Alloc)
		if !ok {
			return false
		}
		array, ok := a.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array)
		return ok && array.Len() == 0
	}
	return false
}

// Field is the field that an address is of.
func Field(f *ssa.FieldAddr) *types.Var {
	return f.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(f.Field)
}

// Instructions are those of a function.
func Instructions(fn *ssa.Function) iter.Seq[ssa.Instruction] {
	return func(yield func(ssa.Instruction) bool) {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if !yield(in) {
					return
				}
			}
		}
	}
}

// Standard reports whether a package is of the standard library: its first element has no dot.
func Standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return path != "main" && !strings.Contains(first, ".") && first != "command-line-arguments"
}

// Spelling is a function's name as pprof spells it, without type arguments.
func Spelling(fn *types.Func) string {
	fn = fn.Origin()
	pkg := ""
	if fn.Pkg() != nil {
		pkg = fn.Pkg().Path() + "."
	}
	recv := fn.Signature().Recv()
	if recv == nil {
		return pkg + fn.Name()
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		if n, ok := types.Unalias(p.Elem()).(*types.Named); ok {
			return pkg + "(*" + n.Obj().Name() + ")." + fn.Name()
		}
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return pkg + n.Obj().Name() + "." + fn.Name()
	}
	return pkg + fn.Name()
}

// IsBuiltin reports whether a call is one of a builtin function of one of these names.
func IsBuiltin(c *ssa.Call, names ...string) bool {
	b, ok := c.Call.Value.(*ssa.Builtin)
	return ok && slices.Contains(names, b.Name())
}
