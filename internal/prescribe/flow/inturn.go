package flow

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// InTurn reports whether an element of a slice is only read, in a loop that takes one element after the other from the
// first on.
func InTurn(at *ssa.IndexAddr) bool {
	if slices.ContainsFunc(*at.Referrers(), func(in ssa.Instruction) bool { s, ok := in.(*ssa.Store); return ok && s.Addr == at }) {
		return false
	}
	switch i := at.Index.(type) {
	case *ssa.BinOp:
		turn, ok := i.X.(*ssa.Phi)
		return ok && i.Op == token.ADD && turn.Comment == "rangeindex"
	case *ssa.Phi:
		return slices.ContainsFunc(i.Edges, func(e ssa.Value) bool {
			b, ok := e.(*ssa.BinOp)
			if !ok || b.Op != token.ADD || b.X != i {
				return false
			}
			c, ok := b.Y.(*ssa.Const)
			return ok && c.Value != nil && c.Int64() == 1
		})
	}
	return false
}
