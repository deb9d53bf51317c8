// Package mapkey knows what the key of a map could be in place of a text or a box that is made for nothing else.
package mapkey

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Text says what the key of a map could be in place of a text that is made for nothing else: the map is the function's
// own, or in an unexported field or variable, all its keys are texts that are put together for it, and no code has a key
// from the map. It is "" where another key would not do, or that is not known.
func Text(all iter.Seq[*ssa.Function], fn *ssa.Function, e ast.Node) string {
	if fn == nil {
		return ""
	}
	v := flow.Text(fn, e)
	if v == nil || !isMade(v) {
		return ""
	}
	c, _ := v.(*ssa.Call)
	kind := isMade
	if c != nil && isAddress(c) {
		kind = func(v ssa.Value) bool { c, ok := v.(*ssa.Call); return ok && isAddress(c) }
	}
	m, ok := keyed(v)
	if !ok || !onlyKeys(all, m, kind) {
		return ""
	}
	name := mapName(m)
	switch {
	case c != nil && isAddress(c):
		return fmt.Sprintf("make a netip.AddrPort the key of %s, by the address's AddrPort with its Addr unmapped: the text is made for nothing else", name)
	case c != nil && isFormat(c) && format(c) == "%T":
		return fmt.Sprintf("make the reflect.Type of the value the key of %s: the text is made for nothing else", name)
	case c != nil && isFormat(c) && onlyValue(c):
		return fmt.Sprintf("make the value itself the key of %s: the text is made for nothing else", name)
	case c == nil, isFormat(c):
		return fmt.Sprintf("make a struct of its parts the key of %s: the text is made for nothing else", name)
	case strings.HasPrefix(callee(c), "strconv."):
		return fmt.Sprintf("make the number itself the key of %s: the text is made for nothing else", name)
	case callee(c) == "net.IP.String":
		return fmt.Sprintf("make a netip.Addr the key of %s: the text is made for nothing else", name)
	case len(c.Call.Args) == 1 && types.Comparable(c.Call.Args[0].Type()) && !isPointer(c.Call.Args[0].Type()):
		return fmt.Sprintf("make the value itself the key of %s: the text is made for nothing else", name)
	}
	return ""
}

// isMade reports whether a value is a text that is put together of others.
func isMade(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.BinOp:
		return v.Op == token.ADD && flow.IsText(v.Type())
	case *ssa.Call:
		return flow.IsText(v.Type()) && (isFormat(v) || strings.HasPrefix(callee(v), "strconv.") || isStringer(v))
	case *ssa.Phi:
		return !slices.ContainsFunc(v.Edges, func(e ssa.Value) bool { _, phi := e.(*ssa.Phi); return phi || !isMade(e) })
	}
	return false
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func callee(c *ssa.Call) string {
	if c.Call.IsInvoke() {
		return flow.Spelling(c.Call.Method)
	}
	if fn := c.Call.StaticCallee(); fn != nil {
		if obj, ok := fn.Object().(*types.Func); ok {
			return flow.Spelling(obj)
		}
	}
	return ""
}

func isFormat(c *ssa.Call) bool { return strings.HasPrefix(callee(c), "fmt.Sprint") }

// format is the constant format of a call of fmt.Sprintf; "" for others.
func format(c *ssa.Call) string {
	f, ok := c.Call.Args[0].(*ssa.Const)
	if !ok || callee(c) != "fmt.Sprintf" || f.Value == nil {
		return ""
	}
	return constant.StringVal(f.Value)
}

// onlyValue reports whether a call of fmt prints one value that could be a key itself, and nothing beside it.
func onlyValue(c *ssa.Call) bool {
	if f := format(c); f != "%v" && f != "%d" && f != "%s" && callee(c) != "fmt.Sprint" {
		return false
	}
	list, ok := c.Call.Args[len(c.Call.Args)-1].(*ssa.Slice)
	if !ok {
		return false
	}
	array, ok := list.X.(*ssa.Alloc)
	if !ok || array.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Array).Len() != 1 {
		return false
	}
	for _, r := range *array.Referrers() {
		at, ok := r.(*ssa.IndexAddr)
		if !ok {
			continue
		}
		for _, set := range *at.Referrers() {
			if st, ok := set.(*ssa.Store); ok {
				box, ok := st.Val.(*ssa.MakeInterface)
				return ok && types.Comparable(box.X.Type()) && !isPointer(box.X.Type())
			}
		}
	}
	return false
}

// isAddress reports whether a call makes the text of an address with a port.
func isAddress(c *ssa.Call) bool {
	return slices.Contains([]string{"net.Addr.String", "net.(*UDPAddr).String", "net.(*TCPAddr).String"}, callee(c))
}

func isStringer(c *ssa.Call) bool {
	if isAddress(c) {
		return true
	}
	fn := c.Call.StaticCallee()
	return fn != nil && fn.Name() == "String" && fn.Signature.Recv() != nil && len(c.Call.Args) == 1
}

// keyed is the map that a text is the key of; false if the text is anything else too, or never put into a map. The text of
// an address may only be looked up: no one can make it as bytes.
func keyed(v ssa.Value) (m ssa.Value, ok bool) {
	c, call := v.(*ssa.Call)
	put := call && isAddress(c)
	var visit func(v ssa.Value, depth int) bool
	visit = func(v ssa.Value, depth int) bool {
		for _, r := range *v.Referrers() {
			var of ssa.Value
			switch r := r.(type) {
			case *ssa.DebugRef:
				continue
			case *ssa.Lookup:
				of = r.X
			case *ssa.MapUpdate:
				if r.Value == v {
					return false
				}
				of, put = r.Map, true
			case *ssa.Call:
				if !flow.IsBuiltin(r, "delete") {
					return false
				}
				of = r.Call.Args[0]
			case *ssa.Phi:
				if depth > 1 || !visit(r, depth+1) {
					return false
				}
				continue
			default:
				return false
			}
			if m != nil && holderOf(m) != holderOf(of) {
				return false
			}
			m = of
		}
		return true
	}
	return m, visit(v, 0) && m != nil && put
}

// Boxed says which type the keys of a map could have that are boxed on a line: all are of that type, wherever the map is
// used, and it is the function's own, or in an unexported field or variable. It is "" for others.
func Boxed(all iter.Seq[*ssa.Function], fn *ssa.Function, on func(token.Pos) bool) string {
	if fn == nil {
		return ""
	}
	for in := range flow.Instructions(fn) {
		var m, key ssa.Value
		switch in := in.(type) {
		case *ssa.MapUpdate:
			m, key = in.Map, in.Key
		case *ssa.Lookup:
			m, key = in.X, in.Index
		}
		box, ok := key.(*ssa.MakeInterface)
		if !ok || !on(in.Pos()) || isPointer(box.X.Type()) {
			continue
		}
		same := func(v ssa.Value) bool {
			other, ok := v.(*ssa.MakeInterface)
			return ok && types.Identical(other.X.Type(), box.X.Type())
		}
		if onlyKeys(all, m, same) {
			t := types.TypeString(box.X.Type(), func(pkg *types.Package) string { return pkg.Name() })
			return fmt.Sprintf("give %s keys of the type `%s`: it has no others, and each is boxed", mapName(m), t)
		}
	}
	return ""
}

// holderOf is where a map is: the field or the variable of the package that it is read from, or the value itself.
func holderOf(m ssa.Value) any {
	if load, ok := m.(*ssa.UnOp); ok && load.Op == token.MUL {
		switch at := load.X.(type) {
		case *ssa.FieldAddr:
			return flow.Field(at).Origin()
		case *ssa.Global:
			return at
		}
	}
	return m
}

func mapName(m ssa.Value) string {
	switch at := holderOf(m).(type) {
	case *types.Var:
		return "`" + at.Name() + "`"
	case *ssa.Global:
		return "`" + at.Name() + "`"
	}
	return "the map"
}

// onlyKeys reports whether all keys of a map are of a kind, wherever it is used, and no code has one of them from it.
func onlyKeys(all iter.Seq[*ssa.Function], m ssa.Value, kind func(ssa.Value) bool) bool {
	switch at := holderOf(m).(type) {
	case *ssa.MakeMap:
		return onlyKeyed(at, kind)
	case *types.Var:
		return !at.Exported() && everyUse(all, kind, func(in ssa.Instruction) (ssa.Value, bool) {
			f, ok := in.(*ssa.FieldAddr)
			if !ok {
				r, ok := in.(*ssa.Field)
				return r, ok && fieldOf(r) == at
			}
			return f, flow.Field(f).Origin() == at
		})
	case *ssa.Global:
		return !ast.IsExported(at.Name()) && everyUse(all, kind, func(in ssa.Instruction) (ssa.Value, bool) {
			return at, slices.ContainsFunc(in.Operands(nil), func(v *ssa.Value) bool { return *v == ssa.Value(at) })
		})
	}
	return false
}

func fieldOf(f *ssa.Field) *types.Var {
	st, ok := f.X.Type().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	return st.Field(f.Field).Origin()
}

// everyUse reports whether all code that was read uses a map by keys of a kind. The address of the map, or the map, is what
// at finds in an instruction.
func everyUse(all iter.Seq[*ssa.Function], kind func(ssa.Value) bool, at func(ssa.Instruction) (ssa.Value, bool)) bool {
	for fn := range all {
		for in := range flow.Instructions(fn) {
			if v, ok := at(in); ok && !usesMap(in, v, kind) {
				return false
			}
		}
	}
	return true
}

// usesMap reports whether an instruction uses a map by keys of a kind. The map is in a variable of the package, in a field of
// a struct value, or at an address that the instruction makes.
func usesMap(in ssa.Instruction, v ssa.Value, kind func(ssa.Value) bool) bool {
	switch v := v.(type) {
	case *ssa.Global:
		return usesGlobal(in, v, kind)
	case *ssa.Field:
		return onlyKeyed(v, kind)
	}
	for _, r := range *v.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.UnOp:
			if !onlyKeyed(r, kind) {
				return false
			}
		case *ssa.Store:
			if !isNewMap(r.Val, kind) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func usesGlobal(in ssa.Instruction, g *ssa.Global, kind func(ssa.Value) bool) bool {
	switch in := in.(type) {
	case *ssa.DebugRef:
		return true
	case *ssa.UnOp:
		return onlyKeyed(in, kind)
	case *ssa.Store:
		return in.Addr == ssa.Value(g) && isNewMap(in.Val, kind)
	}
	return false
}

// isNewMap reports whether a value is a map without elements, which only the place has where it is stored.
func isNewMap(v ssa.Value, kind func(ssa.Value) bool) bool {
	switch v := v.(type) {
	case *ssa.Const:
		return v.IsNil()
	case *ssa.MakeMap:
		return onlyKeyed(v, kind)
	}
	return false
}

// onlyKeyed reports whether a map is read, filled and counted by keys of a kind, and the keys that are in it go nowhere.
func onlyKeyed(m ssa.Value, kind func(ssa.Value) bool) bool {
	for _, r := range *m.Referrers() {
		switch r := r.(type) {
		case *ssa.DebugRef:
		case *ssa.Lookup:
			if !kind(r.Index) {
				return false
			}
		case *ssa.MapUpdate:
			if r.Map != m || !kind(r.Key) {
				return false
			}
		case *ssa.Store:
			if _, field := r.Addr.(*ssa.FieldAddr); r.Val == m && !field {
				return false
			}
		case *ssa.Range:
			if !keysUnused(r) {
				return false
			}
		case *ssa.Call:
			if !flow.IsBuiltin(r, "len", "clear") && !(flow.IsBuiltin(r, "delete") && kind(r.Call.Args[1])) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// keysUnused reports whether a loop over a map leaves its keys alone.
func keysUnused(r *ssa.Range) bool {
	for _, next := range *r.Referrers() {
		n, ok := next.(*ssa.Next)
		if !ok {
			return false
		}
		for _, x := range *n.Referrers() {
			if part, ok := x.(*ssa.Extract); ok && part.Index == 1 && len(*part.Referrers()) > 0 {
				return false
			}
		}
	}
	return true
}
