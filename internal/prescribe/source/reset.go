package source

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
)

// Reset is a place that empties a field.
type Reset struct {
	File     string // absolute
	Line     int
	Function string // as pprof spells it
	Field    string
}

// Resets lists the places that set a slice's field to nil or a literal without elements, or a buffer's to an empty one, without
// having handed its memory on: the array that it grew to is lost there. The field is named as Line.Owner does.
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

// findResets notes the fields that a function empties.
func (p *Program) findResets(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			st, ok := in.(*ssa.Store)
			if !ok || flow.SetField(st.Addr) == nil {
				continue
			}
			field := flow.SetField(st.Addr)
			key := p.fset.Position(field.Pos()).String()
			if cut, ok := st.Val.(*ssa.Slice); ok && cut.Low != nil {
				p.fronts[key] = true
			}
			_, slice := field.Type().Underlying().(*types.Slice)
			if !(slice && flow.EmptySlice(st.Val)) && !flow.EmptyBuffer(st.Val) || flow.ReadBefore(st) || flow.Bounds(st) {
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
