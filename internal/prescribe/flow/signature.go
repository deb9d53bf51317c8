package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// FixedSignature reports whether something else states what a function takes and returns: the type of a function value,
// for a literal or a function that the package uses as one, or an interface that a method's receiver has, of any package
// that is known. The set has the functions that are used as values.
func FixedSignature(fn *ssa.Function, values map[*ssa.Function]bool) bool {
	switch {
	case fn.Parent() != nil:
		return true
	case fn.Signature.Recv() == nil:
		return values[fn]
	}
	for _, pkg := range fn.Prog.AllPackages() {
		for _, m := range pkg.Members {
			t, ok := m.(*ssa.Type)
			if !ok {
				continue
			}
			iface, ok := t.Type().Underlying().(*types.Interface)
			if ok && hasMethod(iface, fn.Name()) && types.Implements(fn.Signature.Recv().Type(), iface) {
				return true
			}
		}
	}
	return false
}

// OwnField reports whether a struct has a field by itself, and not by one that is embedded.
func OwnField(t types.Type, name string) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Name() == name {
			return true
		}
	}
	return false
}

func hasMethod(t *types.Interface, name string) bool {
	for m := range t.Methods() {
		if m.Name() == name {
			return true
		}
	}
	return false
}

// PutsBack reports whether a function defers the Put of what the Get on a line gives it: every way out then puts it back.
func PutsBack(fn *ssa.Function, line int) bool {
	if fn == nil {
		return false
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if put, ok := in.(*ssa.Defer); ok && isPool(put.Common(), "Put") && gotOn(put.Call.Args[1], fn, line) {
				return true
			}
		}
	}
	return false
}

func isPool(c *ssa.CallCommon, method string) bool {
	callee := c.StaticCallee()
	return callee != nil && callee.RelString(nil) == "(*sync.Pool)."+method
}

// gotOn reports whether a value is what a pool's Get gives on a line, as some type.
func gotOn(v ssa.Value, fn *ssa.Function, line int) bool {
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			v = x.X
		case *ssa.ChangeInterface:
			v = x.X
		case *ssa.TypeAssert:
			v = x.X
		case *ssa.Call:
			return isPool(x.Common(), "Get") && fn.Prog.Fset.PositionFor(x.Pos(), true).Line == line
		default:
			return false
		}
	}
}

// ReturnsPlain reports whether all results of a function are numbers, texts or errors: none of them refers to a slice that
// it is handed.
func ReturnsPlain(fn *types.Func) bool {
	for r := range fn.Signature().Results().Variables() {
		if _, basic := r.Type().Underlying().(*types.Basic); !basic && r.Type() != types.Universe.Lookup("error").Type() {
			return false
		}
	}
	return true
}
