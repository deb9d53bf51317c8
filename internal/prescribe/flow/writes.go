package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// MayWrite reports whether what a function does between two places, itself or by functions that it calls, may write to
// elements of a type in slices and arrays, or give up a lock. Calls that are not seen through may.
func MayWrite(fn *ssa.Function, from, to token.Pos, elem types.Type) bool {
	w := &writing{elem: elem, seen: map[*ssa.Function]bool{}}
	for in := range Instructions(fn) {
		if from <= in.Pos() && in.Pos() < to && w.by(in, mostCalls) {
			return true
		}
	}
	return false
}

// writing looks for writes to elements of a type.
type writing struct {
	elem types.Type
	seen map[*ssa.Function]bool
}

func (w *writing) by(in ssa.Instruction, deep int) bool {
	switch in := in.(type) {
	case *ssa.Store:
		return w.element(in.Addr)
	case *ssa.Go, *ssa.Defer, *ssa.Send, *ssa.Select:
		return true
	case *ssa.Call:
		return w.call(&in.Call, deep)
	}
	return false
}

// element reports whether an address may be that of an element, or of a part of one.
func (w *writing) element(addr ssa.Value) bool {
	for {
		if _, local := addr.(*ssa.Alloc); local {
			return false
		}
		if p, ok := addr.Type().Underlying().(*types.Pointer); ok && types.Identical(p.Elem(), w.elem) {
			return true
		}
		switch a := addr.(type) {
		case *ssa.FieldAddr:
			addr = a.X
		case *ssa.IndexAddr:
			if _, array := a.X.Type().Underlying().(*types.Pointer); !array {
				return false
			}
			addr = a.X
		default:
			return false
		}
	}
}

func (w *writing) call(c *ssa.CallCommon, deep int) bool {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		return slices.Contains([]string{"append", "copy", "clear"}, b.Name()) && w.holds(c.Args[0].Type())
	}
	callee := c.StaticCallee()
	if callee == nil {
		return true
	}
	if callee.Blocks == nil {
		pkg := Origin(callee).Package()
		return pkg == nil || pkg.Pkg.Path() == "sync" || slices.ContainsFunc(c.Args, func(a ssa.Value) bool { return w.reaches(a.Type()) })
	}
	if w.seen[callee] {
		return false
	}
	if deep == 0 {
		return true
	}
	w.seen[callee] = true
	for in := range Instructions(callee) {
		if w.by(in, deep-1) {
			return true
		}
	}
	return false
}

// holds reports whether a type is that of slices of the elements.
func (w *writing) holds(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && types.Identical(s.Elem(), w.elem)
}

// reaches reports whether a library's function that gets a value of a type may come to elements by it: only numbers and
// texts, pointers to these, and slices of others than the elements, are known not to lead there.
func (w *writing) reaches(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Pointer:
		_, basic := u.Elem().Underlying().(*types.Basic)
		return !basic || types.Identical(u.Elem(), w.elem)
	case *types.Slice:
		_, basic := u.Elem().Underlying().(*types.Basic)
		return !basic || types.Identical(u.Elem(), w.elem)
	case *types.Struct:
		return u.NumFields() > 0
	}
	return true
}
