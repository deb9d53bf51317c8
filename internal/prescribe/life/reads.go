package life

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/contract"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// reading follows a value to see whether what it refers to is only read.
type reading struct {
	*Tracer
	seen  map[ssa.Value]bool
	calls int            // that may still be followed into
	made  *ssa.MakeSlice // that one copy may still fill
	deep  bool           // what it refers to counts, too, but for texts
}

// onlyReadDeep is onlyRead for all that can be reached from a value.
func (t *Tracer) onlyReadDeep(v ssa.Value) finding.Tri {
	r := &reading{Tracer: t, seen: map[ssa.Value]bool{}, calls: 4, deep: true}
	return r.value(v)
}

// onlyRead reports whether all that the code does with a value is to read what it refers to, in this
// function and those it calls. What cannot be seen is unknown.
func (t *Tracer) onlyRead(v ssa.Value) finding.Tri {
	r := &reading{Tracer: t, seen: map[ssa.Value]bool{}, calls: 4}
	r.made, _ = v.(*ssa.MakeSlice)
	return r.value(v)
}

func (r *reading) value(v ssa.Value) finding.Tri {
	if r.seen[v] || v.Referrers() == nil || !refers(v.Type(), 0) {
		return finding.Yes
	}
	r.seen[v] = true
	for _, in := range *v.Referrers() {
		if answer := r.use(v, in); answer != finding.Yes {
			return answer
		}
	}
	return finding.Yes
}

// use is the answer for one instruction.
func (r *reading) use(v ssa.Value, in ssa.Instruction) finding.Tri {
	switch in := in.(type) {
	case *ssa.DebugRef, *ssa.BinOp, *ssa.If:
		return finding.Yes
	case *ssa.Index, *ssa.Lookup:
		return r.element(in.(ssa.Value))
	case *ssa.UnOp:
		if in.Op == token.MUL && !isVariable(v) {
			return r.element(in)
		}
		return r.value(in)
	case *ssa.Convert:
		if copies(in) {
			return finding.Yes
		}
		return r.value(in)
	case *ssa.Slice, *ssa.Phi, *ssa.ChangeType, *ssa.Extract, *ssa.Range, *ssa.Next, *ssa.IndexAddr, *ssa.FieldAddr:
		return r.value(in.(ssa.Value))
	case *ssa.Store:
		if a, ok := in.Addr.(*ssa.Alloc); ok && in.Val == v && !a.Heap {
			return r.value(a)
		}
		if a, ok := v.(*ssa.Alloc); ok && in.Addr == a {
			return finding.Yes // the variable gets another value
		}
		return finding.No
	case ssa.CallInstruction:
		return r.call(v, in)
	}
	return finding.Unknown
}

// element is the answer for an element that is read: it refers to other memory, or to none.
func (r *reading) element(v ssa.Value) finding.Tri {
	if !r.deep || flow.IsText(v.Type()) {
		return finding.Yes
	}
	return r.value(v)
}

// isVariable reports whether a value is a local variable that holds the reference.
func isVariable(v ssa.Value) bool {
	a, ok := v.(*ssa.Alloc)
	return ok && !a.Heap
}

// writers are calls of the standard library that write to memory they are given, or hand it on.
var writers = []string{
	"sort.", "slices.Sort", "slices.Reverse", "slices.Delete", "slices.Insert", "slices.Compact", "slices.Replace", "io.Read", "io.ReadFull",
	"encoding/binary.Put", "encoding/binary.Read", "encoding/hex.Encode", "encoding/hex.Decode", "unicode/utf8.EncodeRune", "math/rand.",
}

// call is the answer for a call that gets the value.
func (r *reading) call(v ssa.Value, in ssa.CallInstruction) finding.Tri {
	c := in.Common()
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "len", "cap", "print", "println", "min", "max":
			return finding.Yes
		case "copy", "append":
			switch {
			case c.Args[0] != v:
				return finding.Yes
			case r.made != nil && v == r.made && b.Name() == "copy":
				r.made = nil
				return finding.Yes
			}
			return finding.No
		}
		return finding.Unknown
	}
	if k, ok := contract.Of(c, v); ok {
		return r.contract(k, in)
	}
	callee := c.StaticCallee()
	if callee == nil || callee.Blocks == nil || r.calls == 0 {
		return finding.Unknown
	}
	r.calls--
	defer func() { r.calls++ }()
	for i, a := range c.Args {
		if a == v && i < len(callee.Params) {
			if answer := r.value(callee.Params[i]); answer != finding.Yes {
				return answer
			}
		}
	}
	return finding.Yes
}

// contract is the answer for a call whose documentation says what becomes of its arguments.
func (r *reading) contract(k contract.Contract, in ssa.CallInstruction) finding.Tri {
	c := in.Common()
	name := calleeName(c)
	for _, w := range writers {
		if strings.HasPrefix(name, w) {
			return finding.No
		}
	}
	if c.IsInvoke() && (c.Method.Name() == "Read" || c.Method.Name() == "ReadAt" || contract.Serves(c.Method)) {
		return finding.No
	}
	result, ok := in.(*ssa.Call)
	switch k {
	case contract.Drops, contract.Unpacks:
		return finding.Yes
	case contract.Passes:
		if ok && !isSignal(result.Type()) {
			return r.value(result)
		}
		return finding.Yes
	}
	return finding.Unknown
}

// isSignal reports whether a result says yes or no, or how many.
func isSignal(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsBoolean|types.IsNumeric) != 0
}
