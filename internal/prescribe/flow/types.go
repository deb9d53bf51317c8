package flow

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// IsText reports whether a type is one of text.
func IsText(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsString != 0
}

// IsBytes reports whether a type is a slice of bytes.
func IsBytes(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Byte
}

// Elem is what a pointer points to; the type itself for others.
func Elem(t types.Type) types.Type {
	if at, ok := t.Underlying().(*types.Pointer); ok {
		return at.Elem()
	}
	return t
}

// Text is the value of a concatenation or a call that makes a text; nil for another expression.
func Text(fn *ssa.Function, n ast.Node) ssa.Value {
	pos := token.NoPos
	switch n := n.(type) {
	case *ast.BinaryExpr:
		pos = n.OpPos
	case *ast.CallExpr:
		pos = n.Lparen
	}
	for in := range Instructions(fn) {
		if v, ok := in.(ssa.Value); ok && pos.IsValid() && in.Pos() == pos && v.Type() != nil && IsText(v.Type()) {
			return v
		}
	}
	return nil
}
