package life

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/contract"
	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"golang.org/x/tools/go/ssa"
)

// compares are the functions of strings and bytes that only compare their arguments.
var compares = []string{"Compare", "Equal", "EqualFold", "HasPrefix", "HasSuffix"}

// compared reports whether all that the function does with a text is to ask whether it equals another.
func compared(v ssa.Value) bool {
	found := false
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.BinOp:
			if in.Op != token.EQL && in.Op != token.NEQ || flow.OfItself(v, in.X, in.Y) {
				return false
			}
			found = true
		case *ssa.Call:
			if orders := strings.HasSuffix(calleeName(in.Common()), ".Compare"); orders || flow.OfItself(v, in.Call.Args...) || !comparing(in.Common()) && !isLen(in.Common()) {
				return false
			}
			found = found || comparing(in.Common())
		default:
			return false
		}
	}
	return found
}

func comparing(c *ssa.CallCommon) bool {
	pkg, name, _ := strings.Cut(calleeName(c), ".")
	return (pkg == "strings" || pkg == "bytes") && slices.Contains(compares, name)
}

// textUse says how a string is used.
type textUse struct {
	looked bool      // a map is read by it
	other  bool      // something else is done with it than what needs no string of its own
	stored token.Pos // where a map gets it as a key
	taken  bool      // something takes it that would not take bytes
}

func (k *textUse) join(o textUse) {
	*k = textUse{k.looked || o.looked, k.other || o.other, max(k.stored, o.stored), k.taken || o.taken}
}

// asText notes what an instruction does with a text.
func (s *scan) asText(h held, in ssa.Instruction) {
	if b, ok := h.value.Type().Underlying().(*types.Basic); !ok || b.Info()&types.IsString == 0 {
		return
	}
	k := &s.out.text
	switch in := in.(type) {
	case *ssa.DebugRef, *ssa.Phi, *ssa.Return, *ssa.Extract, *ssa.Slice, *ssa.If, *ssa.Index, *ssa.Range:
	case *ssa.Lookup:
		_, isMap := in.X.Type().Underlying().(*types.Map)
		k.looked = k.looked || isMap && in.Index == h.value
	case *ssa.MapUpdate:
		k.stored, k.other = in.Pos(), k.other || in.Value == h.value || !missed(in)
		k.taken = k.taken || in.Value == h.value
	case *ssa.Store:
		_, local := in.Addr.(*ssa.Alloc)
		k.other, k.taken = true, k.taken || !local
	case *ssa.BinOp:
		k.other = k.other || in.Op == token.ADD
	case *ssa.Call:
		if _, library := contract.Of(in.Common(), h.value); library && !comparing(in.Common()) {
			k.other, k.taken = true, k.taken || !takesBytes(in.Common())
		}
	case *ssa.MakeInterface:
		k.other, k.taken = true, k.taken || !printed(in)
	default:
		k.other = true
	}
}

// printed reports whether only calls of fmt take an interface value.
func printed(box *ssa.MakeInterface) bool {
	return !slices.ContainsFunc(*box.Referrers(), func(in ssa.Instruction) bool {
		if st, ok := in.(*ssa.Store); ok {
			elem, ok := st.Addr.(*ssa.IndexAddr)
			return !ok || !slices.ContainsFunc(*elem.X.Referrers(), func(in ssa.Instruction) bool {
				all, ok := in.(*ssa.Slice) // the arguments
				return ok && slices.ContainsFunc(*all.Referrers(), func(in ssa.Instruction) bool {
					call, ok := in.(ssa.CallInstruction)
					return ok && strings.HasPrefix(calleeName(call.Common()), "fmt.")
				})
			})
		}
		_, about := in.(*ssa.DebugRef)
		return !about
	})
}

// takesBytes reports whether a library's call has a twin that takes bytes in place of text.
func takesBytes(c *ssa.CallCommon) bool {
	name := calleeName(c)
	return strings.HasPrefix(name, "strings.") || strings.HasPrefix(name, "bytes.") || strings.HasPrefix(name, "unicode/utf8.") ||
		strings.HasPrefix(name, "fmt.Fprint") || strings.HasSuffix(name, "WriteString")
}

// missed reports whether a key is stored only where a look-up by it found nothing.
func missed(u *ssa.MapUpdate) bool {
	return slices.ContainsFunc(u.Parent().Blocks, func(b *ssa.BasicBlock) bool {
		branch, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
		if !ok {
			return false
		}
		key, found := lookup(branch.Cond)
		way := b.Succs[1]
		if !found {
			way = b.Succs[0]
		}
		return key == u.Key && len(way.Preds) == 1 && way.Dominates(u.Block())
	})
}

// lookup is the key whose entry in a map a condition asks for, and whether the condition holds if there is one; nil for
// other conditions.
func lookup(cond ssa.Value) (key ssa.Value, found bool) {
	switch c := cond.(type) {
	case *ssa.UnOp:
		if c.Op == token.NOT {
			key, found = lookup(c.X)
			return key, !found
		}
	case *ssa.BinOp:
		if _, constant := c.Y.(*ssa.Const); constant && (c.Op == token.EQL || c.Op == token.NEQ) {
			key, _ = lookup(c.X)
			return key, c.Op == token.NEQ
		}
	case *ssa.Extract:
		return lookup(c.Tuple)
	case *ssa.Lookup:
		return c.Index, true
	}
	return nil, false
}

// listed reports whether the function needs a slice of parts as such: it hands it on to other code than the module's
// own, or to several functions, or it ranges over it and uses it in another way too, so that neither a few cuts nor a sequence would do.
func listed(v ssa.Value) bool {
	if _, ok := v.Type().Underlying().(*types.Slice); !ok {
		return false
	}
	ranged, other := false, false
	var takes *ssa.Function
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.IndexAddr:
			if _, constant := in.Index.(*ssa.Const); !constant && !flow.InTurn(in) && !isLast(in.Index, v) {
				return true
			} else if constant {
				other = true
			}
		case *ssa.Slice:
			if listed(in) {
				return true
			}
			other = true
		case ssa.CallInstruction:
			switch {
			case !isLen(in.Common()):
				callee := in.Common().StaticCallee()
				if callee == nil || callee.Package() != in.Parent().Package() || takes != nil && takes != callee || flow.HandsOn(callee, in.Common(), v) {
					return true
				}
				takes, other = callee, true
			case in.Pos().IsValid():
				other = true
			default:
				ranged = true // a range's own
			}
		default:
			other = true
		}
	}
	return ranged && other
}

func isLen(c *ssa.CallCommon) bool {
	b, ok := c.Value.(*ssa.Builtin)
	return ok && b.Name() == "len"
}

// isLast reports whether an index is that of the last element.
func isLast(index, of ssa.Value) bool {
	minus, ok := index.(*ssa.BinOp)
	if !ok || minus.Op != token.SUB {
		return false
	}
	one, constant := minus.Y.(*ssa.Const)
	length, isCall := minus.X.(*ssa.Call)
	return constant && isCall && one.Int64() == 1 && isLen(length.Common()) && length.Common().Args[0] == of
}

// argued reports whether a value is an argument of a call, or an element of a slice of arguments.
func argued(v ssa.Value) bool {
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case ssa.CallInstruction:
			return !isLen(in.Common())
		case *ssa.Slice:
			return argued(in)
		case *ssa.Store:
			at, ok := in.Addr.(*ssa.IndexAddr)
			return ok && in.Val == v && at.X.Referrers() != nil && argued(at.X)
		}
		return false
	})
}

// mostForwards is how many calls deep an argument is followed that functions only hand on.
const mostForwards = 3

// spared reports whether a boxed argument, the slice of them, or a closure is handed to a function that may return
// without a look at it, as a logger does whose level is off.
func spared(v ssa.Value) bool {
	looked := holdsInterfaces
	if _, closure := v.(*ssa.MakeClosure); closure {
		looked = holdsFunction
	}
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.Store:
			if at, ok := in.Addr.(*ssa.IndexAddr); ok && in.Val == v && at.X.Referrers() != nil && spared(at.X) {
				return true
			}
		case *ssa.Slice, *ssa.MakeInterface:
			if spared(in.(ssa.Value)) {
				return true
			}
		case ssa.CallInstruction:
			if callee := in.Common().StaticCallee(); callee != nil && returnsEarly(callee, looked, mostForwards) {
				return true
			}
		}
	}
	return false
}

// returnsEarly reports whether a function has a way on which it uses none of its parameters of certain types and
// returns no error, or only hands them to such functions.
func returnsEarly(fn *ssa.Function, of func(types.Type) bool, deep int) bool {
	if fn.Blocks == nil {
		return false
	}
	looks := map[*ssa.BasicBlock]bool{}
	forwards, used := true, false
	for _, p := range fn.Params {
		if !of(p.Type()) {
			continue
		}
		for _, in := range *p.Referrers() {
			if _, debug := in.(*ssa.DebugRef); debug {
				continue
			}
			if turns(in.Block()) {
				return false // a loop without turns is no way to do without
			}
			looks[in.Block()], used = true, true
			call, ok := in.(ssa.CallInstruction)
			if ok && call.Common().StaticCallee() == fn {
				return false
			}
			if !ok || deep == 0 || call.Common().StaticCallee() == nil || !returnsEarly(call.Common().StaticCallee(), of, deep-1) {
				forwards = false
			}
		}
	}
	return used && (forwards || wayOut(fn.Blocks[0], looks, map[*ssa.BasicBlock]bool{}))
}

// turns reports whether a block is in a loop.
func turns(b *ssa.BasicBlock) bool {
	seen := map[*ssa.BasicBlock]bool{}
	return slices.ContainsFunc(b.Succs, func(next *ssa.BasicBlock) bool { return reaches(next, []*ssa.BasicBlock{b}, seen) })
}

// wayOut reports whether a return without an error can be reached by none of some blocks.
func wayOut(b *ssa.BasicBlock, without, seen map[*ssa.BasicBlock]bool) bool {
	if without[b] || seen[b] {
		return false
	}
	seen[b] = true
	if r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
		return !slices.ContainsFunc(r.Results, func(v ssa.Value) bool {
			c, constant := v.(*ssa.Const)
			return isError(v.Type()) && !(constant && c.IsNil())
		})
	}
	return slices.ContainsFunc(b.Succs, func(next *ssa.BasicBlock) bool { return wayOut(next, without, seen) })
}

// holdsInterfaces reports whether values of a type are interface values, or slices of them.
func holdsInterfaces(t types.Type) bool {
	if s, ok := t.Underlying().(*types.Slice); ok {
		t = s.Elem()
	}
	return types.IsInterface(t)
}

func holdsFunction(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}
