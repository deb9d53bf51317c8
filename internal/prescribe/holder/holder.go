// Package holder finds the struct that holds memory in a field, and the method that ends its use.
package holder

import (
	"fmt"
	"go/ast"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
)

// Of is the type of a struct that declares a field, by the place of its declaration; nil where the
// packages that were read do not hold it.
func Of(src *source.Program, field string) *types.Named {
	n, _ := find(src, field)
	return n
}

func find(src *source.Program, field string) (*types.Named, *types.Var) {
	for _, n := range src.Structs() {
		for f := range n.Underlying().(*types.Struct).Fields() {
			if src.IsAt(field, f.Pos()) {
				return n, f
			}
		}
	}
	return nil, nil
}

// Public reports whether other modules may see what a field holds, or whether there is anything in it: it is exported.
func Public(src *source.Program, field string) bool {
	_, f := find(src, field)
	return f != nil && f.Exported()
}

// enders are methods without parameters after which a value is not used any more.
var enders = []string{"Close", "Release", "Free", "Destroy"}

// Ender is the method that ends the use of the struct that holds memory in an unexported field, itself or by way of a variable
// of the function that makes it: one that closes it, or else Read or Next, whose error ends a stream. It is "" for others, for
// exported fields, whose memory others may keep, and for connections, as net.Conn says what they are: Close may be called
// while another method runs.
func Ender(src *source.Program, field string, fn *ssa.Function, made ast.Node) string {
	n, f := find(src, field)
	if n == nil {
		n, f = find(src, storedIn(src, fn, made))
	}
	if n == nil || f.Exported() || method(n, "SetReadDeadline") != nil {
		return ""
	}
	for _, name := range enders {
		if sig := method(n, name); sig != nil && sig.Params().Len() == 0 {
			return fmt.Sprintf("%s of `%s`", name, n.Obj().Name())
		}
	}
	if sig := method(n, "Read"); sig != nil && spell(sig.Params()) == "[]byte" && spell(sig.Results()) == "int, error" {
		return fmt.Sprintf("Read of `%s`, once that returns an error", n.Obj().Name())
	}
	if sig := method(n, "Next"); sig != nil && sig.Params().Len() == 0 && strings.HasSuffix(spell(sig.Results()), ", error") {
		return fmt.Sprintf("Next of `%s`, once that returns an error", n.Obj().Name())
	}
	return ""
}

// storedIn is the place of the only field that the result of a call is put into; "" for others.
func storedIn(src *source.Program, fn *ssa.Function, e ast.Node) (field string) {
	call, ok := e.(*ast.CallExpr)
	if !ok || fn == nil {
		return ""
	}
	for in := range flow.Instructions(fn) {
		c, ok := in.(*ssa.Call)
		if !ok || c.Pos() != call.Lparen || c.Referrers() == nil {
			continue
		}
		for _, use := range *c.Referrers() {
			st, ok := use.(*ssa.Store)
			if !ok || st.Val != ssa.Value(c) {
				continue
			}
			at, ok := st.Addr.(*ssa.FieldAddr)
			if !ok || field != "" {
				return ""
			}
			field = src.PlaceOf(flow.Field(at).Pos())
		}
	}
	return field
}

// method is the signature of a method; nil for none.
func method(n *types.Named, name string) *types.Signature {
	obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), name)
	if fn, ok := obj.(*types.Func); ok {
		return fn.Signature()
	}
	return nil
}

// spell lists the types of parameters or results.
func spell(t *types.Tuple) string {
	var list []string
	for v := range t.Variables() {
		list = append(list, types.TypeString(v.Type(), nil))
	}
	return strings.Join(list, ", ")
}

// Sized reports whether a function sets a slice's field, by the place of its declaration, to one that it makes with a
// length or capacity.
func Sized(src *source.Program, field string) bool {
	for _, value := range stores(src, field) {
		if hasRoom(value) {
			return true
		}
	}
	return false
}

// hasRoom reports whether a value is a slice that is made with room for elements.
func hasRoom(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.MakeSlice:
		return !isZero(v.Cap)
	case *ssa.Slice: // of an array, where the length is a constant
		array, ok := v.X.(*ssa.Alloc)
		return ok && array.Comment == "makeslice" && array.Type().Underlying().(*types.Pointer).Elem().(*types.Array).Len() > 0
	}
	return false
}

func isZero(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value != nil && c.Value.String() == "0"
}

// Maker is the call of a package's New whose result functions put into the field that a call of an interface's method is
// made on: c.w.Write(b), where c.w = gzip.NewWriter(w) stands elsewhere. The first frame is that of the call; method is
// what it led to. The place is zero if there is none, or more than one.
func Maker(src *source.Program, own []evidence.Frame, method string) evidence.Site {
	pkg, _, isMethod := strings.Cut(method, ".(")
	if len(own) == 0 || !isMethod {
		return evidence.Site{}
	}
	fn := src.Function(own[0].File, own[0].Line, own[0].Function)
	if fn == nil {
		return evidence.Site{}
	}
	var field *types.Var
	for in := range flow.Instructions(fn) {
		call, ok := in.(*ssa.Call)
		if !ok || !call.Call.IsInvoke() || src.LineOf(call.Pos()) != own[0].Line {
			continue
		}
		if load, ok := call.Call.Value.(*ssa.UnOp); ok {
			if at, ok := load.X.(*ssa.FieldAddr); ok {
				field = flow.Field(at)
			}
		}
	}
	if field == nil {
		return evidence.Site{}
	}
	found := map[evidence.Site]bool{}
	for fn := range src.Functions() {
		for in := range flow.Instructions(fn) {
			st, ok := in.(*ssa.Store)
			if !ok {
				continue
			}
			at, ok := st.Addr.(*ssa.FieldAddr)
			if !ok || flow.Field(at) != field {
				continue
			}
			if call := madeBy(st.Val, pkg); call != nil {
				found[evidence.Site{File: src.FileOf(call.Pos()), Line: src.LineOf(call.Pos()), Function: nameOf(fn)}] = true
			}
		}
	}
	for at := range found {
		if len(found) == 1 {
			return at
		}
	}
	return evidence.Site{}
}

// madeBy is the call of a package's New that an interface value is of; nil for others.
func madeBy(v ssa.Value, pkg string) *ssa.Call {
	boxed, ok := v.(*ssa.MakeInterface)
	if !ok {
		return nil
	}
	call, ok := boxed.X.(*ssa.Call)
	if !ok || call.Call.StaticCallee() == nil {
		return nil
	}
	if callee := call.Call.StaticCallee(); callee.Pkg == nil || callee.Pkg.Pkg.Path() != pkg || !strings.HasPrefix(callee.Name(), "New") {
		return nil
	}
	return call
}

// nameOf is a function's name as pprof spells it; without its package for a literal.
func nameOf(fn *ssa.Function) string {
	if obj, ok := fn.Object().(*types.Func); ok {
		return flow.Spelling(obj)
	}
	return fn.Name()
}

// CutInFront reports whether a function cuts the first elements off a slice in a field, as a queue does. The field is given
// by the place of its declaration.
func CutInFront(src *source.Program, field string) bool {
	for at, value := range stores(src, field) {
		cut, ok := value.(*ssa.Slice)
		if !ok || cut.Low == nil || isZero(cut.Low) || cut.High != nil {
			continue
		}
		if load, ok := cut.X.(*ssa.UnOp); ok {
			if from, ok := load.X.(*ssa.FieldAddr); ok && flow.Field(from) == flow.Field(at) {
				return true
			}
		}
	}
	return false
}

// stores yields the values that functions store in a field, by the place of its declaration, with the field's address.
func stores(src *source.Program, field string) iter.Seq2[*ssa.FieldAddr, ssa.Value] {
	return func(yield func(*ssa.FieldAddr, ssa.Value) bool) {
		for fn := range src.Functions() {
			for in := range flow.Instructions(fn) {
				st, ok := in.(*ssa.Store)
				if !ok {
					continue
				}
				at, ok := st.Addr.(*ssa.FieldAddr)
				if ok && src.IsAt(field, flow.Field(at).Pos()) && !yield(at, st.Val) {
					return
				}
			}
		}
	}
}

// Fills reports whether code puts entries into the map of a field, which is named by the place of its declaration.
func Fills(src *source.Program, field string) bool {
	if field == "" {
		return false
	}
	for fn := range src.Functions() {
		for in := range flow.Instructions(fn) {
			if up, ok := in.(*ssa.MapUpdate); ok && loads(src, up.Map, field) {
				return true
			}
		}
	}
	return false
}

// Leaves reports whether code does more with the map in a field, which is named by the place of its declaration, than to
// put entries in, to read them and to take them out: others may then put something into it.
func Leaves(src *source.Program, field string) bool {
	for fn := range src.Functions() {
		for in := range flow.Instructions(fn) {
			if v, ok := in.(ssa.Value); ok && loads(src, v, field) && slices.ContainsFunc(*v.Referrers(), func(use ssa.Instruction) bool { return leaves(v, use) }) {
				return true
			}
		}
	}
	return false
}

// leaves reports whether an instruction hands a map on.
func leaves(m ssa.Value, in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.DebugRef, *ssa.Lookup, *ssa.Range, *ssa.BinOp:
		return false
	case *ssa.MapUpdate:
		return in.Map != m
	case *ssa.Call:
		_, builtin := in.Call.Value.(*ssa.Builtin)
		return !builtin
	}
	return true
}

// loads reports whether a value is what a field holds.
func loads(src *source.Program, v ssa.Value, field string) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	at, ok := load.X.(*ssa.FieldAddr)
	return ok && src.IsAt(field, flow.Field(at).Pos())
}
