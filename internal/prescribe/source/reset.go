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

// Resets lists the places that set a slice's field to nil or a literal without elements, or a buffer's to an empty one, alone or
// with all fields, without having handed its memory on: the array that it grew to is lost there. The field is named as Line.Owner does.
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
			if !ok {
				continue
			}
			if cut, ok := st.Val.(*ssa.Slice); ok && cut.Low != nil && flow.SetField(st.Addr) != nil {
				p.fronts[p.fset.Position(flow.SetField(st.Addr).Pos()).String()] = true
			}
			obj, ok := fn.Object().(*types.Func)
			if !ok {
				continue
			}
			at := p.fset.Position(st.Pos())
			for _, field := range flow.Emptied(st) {
				key := p.fset.Position(field.Pos()).String()
				p.resets[key] = append(p.resets[key], Reset{at.Filename, at.Line, flow.Spelling(obj), field.Name()})
			}
		}
	}
}
