package life

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// born finds the values of a line that a birth can be. Without any, the object is unknown.
func (t *Tracer) born(fn *ssa.Function, b Birth, line int) []ssa.Value {
	var exact, near []ssa.Value
	for _, block := range fn.Blocks {
		for _, in := range block.Instrs {
			v := bornBy(b, in)
			if v == nil {
				continue
			}
			switch at := t.src.LineOf(place(in)); {
			case at == line:
				exact = append(exact, v)
			case at == 0 && b.Kind == finding.KindBoxing: // conversions for a call have no place of their own
				near = append(near, v)
			}
		}
	}
	if len(exact) == 0 {
		return t.passedOn(near, line)
	}
	return t.fitting(exact, b.Sizes)
}

// fitting keeps the objects whose size is that of one of the blocks, if there are any: a block is at most an eighth
// larger, or 16 bytes.
func (t *Tracer) fitting(values []ssa.Value, sizes []int64) []ssa.Value {
	var out []ssa.Value
	for _, v := range values {
		a, ok := v.(*ssa.Alloc)
		if !ok {
			return values
		}
		size := t.src.SizeOf(a.Type().Underlying().(*types.Pointer).Elem())
		if slices.ContainsFunc(sizes, func(s int64) bool { return s >= size && s <= max(size+size/8, size+16) }) {
			out = append(out, v)
		}
	}
	if len(out) == 0 {
		return values
	}
	return out
}

// place is where an instruction stands; that of a closure is its function's.
func place(in ssa.Instruction) token.Pos {
	if mc, ok := in.(*ssa.MakeClosure); ok && !mc.Pos().IsValid() {
		return mc.Fn.Pos()
	}
	return in.Pos()
}

// passedOn keeps the values that a call or a return of the line uses.
func (t *Tracer) passedOn(values []ssa.Value, line int) []ssa.Value {
	var out []ssa.Value
	for _, v := range values {
		for _, in := range *v.Referrers() {
			if t.src.LineOf(in.Pos()) == line {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

// bornBy is the value that holds what an instruction allocates, if that is of the kind
// asked about.
func bornBy(b Birth, in ssa.Instruction) ssa.Value {
	if b.Via != "" {
		return madeByCall(b, in)
	}
	switch in := in.(type) {
	case *ssa.Alloc:
		if in.Heap && (b.Kind == finding.KindNew || b.Kind == finding.KindMake && in.Comment == "makeslice") ||
			b.Kind == finding.KindVariadic && in.Comment == "varargs" ||
			b.Kind == finding.KindNew && in.Comment == "slicelit" {
			return in
		}
	case *ssa.MakeSlice:
		if b.Kind == finding.KindMake {
			return in
		}
	case *ssa.MakeMap:
		if b.Kind == finding.KindMap || b.Kind == finding.KindMake {
			return in
		}
	case *ssa.MakeChan:
		if b.Kind == finding.KindChan {
			return in
		}
	case *ssa.MakeClosure:
		if b.Kind == finding.KindClosure {
			return in
		}
	case *ssa.MakeInterface:
		if b.Kind == finding.KindBoxing && !pointerShaped(in.X.Type()) {
			return in
		}
	case *ssa.MapUpdate:
		if b.Kind == finding.KindMapGrowth {
			return in.Map
		}
	case *ssa.Convert:
		if b.Kind == finding.KindConversion && copies(in) {
			return in
		}
	case *ssa.BinOp:
		if b.Kind == finding.KindConcat && in.Op == token.ADD && refers(in.Type(), 0) && !summand(in) {
			return in
		}
	case *ssa.Call:
		if bi, ok := in.Call.Value.(*ssa.Builtin); ok && b.Kind == finding.KindGrowth && bi.Name() == "append" {
			return in
		}
	}
	return nil
}

// summand reports whether a sum of texts is only a part of a longer one, which is made at once.
func summand(v *ssa.BinOp) bool {
	n := 0
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.BinOp:
			n++
			if in.Op != token.ADD || in.X != v {
				return false
			}
		default:
			return false
		}
	}
	return n == 1
}

// madeByCall is the value that holds what a call of a library function allocates: its
// result, or the receiver or argument that it fills.
func madeByCall(b Birth, in ssa.Instruction) ssa.Value {
	call, ok := in.(*ssa.Call)
	if !ok {
		return nil
	}
	c := call.Common()
	callee := c.StaticCallee()
	switch {
	case callee != nil && Plain(flow.NameOf(callee)) == Plain(b.Via):
	case callee == nil && c.IsInvoke() && strings.HasSuffix(Plain(b.Via), "."+c.Method.Name()):
	default:
		return nil
	}
	if OwnMemory(Plain(b.Via)) {
		return flow.Argument(c, 0)
	}
	for v := range c.Signature().Results().Variables() {
		if refers(v.Type(), 0) && (!isError(v.Type()) || makesErrors(b.Via)) {
			return call
		}
	}
	return nil
}

// ownMemory are types whose methods allocate memory that belongs to the receiver: it grows,
// or is made with the first use.
var ownMemory = []string{
	"bytes.(*Buffer).", "strings.(*Builder).", "bufio.(*Writer).", "bufio.(*Reader).", "bufio.(*Scanner).",
	"compress/bzip2.(*", "compress/flate.(*", "compress/gzip.(*", "compress/lzw.(*", "compress/zlib.(*",
	"github.com/klauspost/compress/flate.(*", "github.com/klauspost/compress/gzip.(*", "github.com/klauspost/compress/zlib.(*",
	"encoding/json.(*Decoder).", "encoding/json.(*Encoder).", "encoding/csv.(*", "text/tabwriter.(*Writer).",
	"container/list.(*List).", "math/rand.(*Rand).", "sync.(*Map).",
}

// OwnMemory reports whether what a method of a library allocates is its receiver's
// own memory, and not its result.
func OwnMemory(function string) bool {
	for _, p := range ownMemory {
		if rest, ok := strings.CutPrefix(function, p); ok {
			name := rest[strings.LastIndexByte(rest, '.')+1:]
			switch name {
			case "String", "Text", "ReadString", "ReadBytes", "ReadAll":
				return false // results
			}
			return p != "encoding/csv.(*" || name != "Read"
		}
	}
	return false
}

// makesErrors reports whether a function's result is a new error.
func makesErrors(function string) bool { return function == "errors.New" || function == "fmt.Errorf" }

// pointerShaped reports whether an interface holds a value of the type without a copy.
func pointerShaped(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Kind() == types.UntypedNil
	}
	return false
}

// Plain takes the type arguments off a function's name, and what the compiler adds for the body of a loop over a function.
func Plain(function string) string {
	function, _, _ = strings.Cut(function, "-range")
	if i := strings.IndexByte(function, '['); i >= 0 {
		if j := strings.LastIndexByte(function, ']'); j > i {
			return function[:i] + function[j+1:]
		}
	}
	return function
}

// birth starts a scan with what a birth makes.
func (s *scan) birth(v ssa.Value, b Birth) {
	s.ref = v.Type()
	switch {
	case b.Kind == finding.KindMapGrowth, b.Via != "" && OwnMemory(Plain(b.Via)):
		// The tables or blocks belong to the map or builder: they live as long as that.
		for _, r := range rootsOf(v) {
			s.owner(r)
		}
		if strings.HasPrefix(b.Via, "bytes.(*Buffer).") {
			s.ref = types.NewSlice(types.Typ[types.Byte]) // Bytes and Next hand it out
		}
	case b.Kind == finding.KindGrowth:
		s.add(v, direct)
	default:
		s.add(v, direct)
	}
}

// owner starts with memory that belongs to another object: that object's life counts.
func (s *scan) owner(r ssa.Value) {
	switch r.(type) {
	case *ssa.Alloc, *ssa.MakeMap, *ssa.MakeSlice:
		s.ref = r.Type()
		s.add(r, direct)
	default:
		s.into(r)
	}
}

// ShortName drops the directories of a function's package.
func ShortName(function string) string {
	function = Plain(function)
	return function[strings.LastIndexByte(function, '/')+1:]
}
