package source

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Reset is a place that sets a field to nil.
type Reset struct {
	File     string // absolute
	Line     int
	Function string // as pprof spells it
	Field    string
}

// Resets lists the places that set a slice's field to nil, or a buffer's to an empty one, without having looked at what it held:
// what it grew to is lost there. The field is named as Line.Owner does.
func (p *Program) Resets(owner string) []Reset {
	if p.resets == nil {
		p.resets, p.fronts = map[string][]Reset{}, map[string]bool{}
		for _, fn := range p.funcs {
			p.findResets(fn)
		}
		for _, list := range p.resets {
			slices.SortFunc(list, func(a, b Reset) int { return a.Line - b.Line })
		}
	}
	if p.fronts[owner] {
		return nil // each cut at the front loses a part of the array
	}
	return p.resets[owner]
}

// findResets notes the fields that a function sets to nil.
func (p *Program) findResets(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			st, ok := in.(*ssa.Store)
			if !ok || fieldOf(st.Addr) == nil {
				continue
			}
			field := fieldOf(st.Addr)
			key := p.fset.Position(field.Pos()).String()
			if cut, ok := st.Val.(*ssa.Slice); ok && cut.Low != nil {
				p.fronts[key] = true
			}
			if !isNil(st.Val) && !emptyBuffer(st.Val) || reads(fn, st) || flow.Bounds(st) {
				continue
			}
			if _, slice := field.Type().Underlying().(*types.Slice); !slice && isNil(st.Val) {
				continue
			}
			at := p.fset.Position(st.Pos())
			obj, ok := fn.Object().(*types.Func)
			if !ok {
				continue
			}
			p.resets[key] = append(p.resets[key], Reset{at.Filename, at.Line, flow.Spelling(obj), field.Name()})
		}
	}
}

// emptyBuffer reports whether a value is a bytes.Buffer without contents. A strings.Builder is none:
// its Reset drops the memory, too.
func emptyBuffer(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.Value == nil && types.TypeString(c.Type(), nil) == "bytes.Buffer"
}

func isNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}

// fieldOf is the field that an address is of, where what holds it was not made in the function; nil for others.
func fieldOf(v ssa.Value) *types.Var {
	addr, ok := v.(*ssa.FieldAddr)
	if !ok {
		return nil
	}
	if _, fresh := addr.X.(*ssa.Alloc); fresh {
		return nil
	}
	ptr, ok := addr.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return nil
	}
	st, ok := ptr.Elem().Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	return st.Field(addr.Field)
}

// pathOf names the field that an address is of, from the variable that leads to it.
func pathOf(v ssa.Value) string {
	switch v := v.(type) {
	case *ssa.FieldAddr:
		return pathOf(v.X) + "." + strconv.Itoa(v.Field)
	case *ssa.UnOp:
		return pathOf(v.X) + "*"
	}
	return v.Name()
}

// reads reports whether a function reads a field, other than for its length, before it sets the field: then somebody
// else may have got what the field held.
func reads(fn *ssa.Function, st *ssa.Store) bool {
	path := pathOf(st.Addr)
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			load, ok := in.(*ssa.UnOp)
			if !ok || load.Op != token.MUL {
				continue
			}
			if fieldOf(load.X) == nil || pathOf(load.X) != path || !flow.Before(load, st) {
				continue
			}
			for _, r := range *load.Referrers() {
				if !measures(r) {
					return true
				}
			}
		}
	}
	return false
}

// measures reports whether an instruction asks a slice for its length, or compares it with nil.
func measures(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Call:
		b, ok := in.Call.Value.(*ssa.Builtin)
		return ok && (b.Name() == "len" || b.Name() == "cap")
	case *ssa.BinOp:
		return in.Op == token.EQL || in.Op == token.NEQ
	case *ssa.DebugRef:
		return true
	}
	return false
}
