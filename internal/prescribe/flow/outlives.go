package flow

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// MovedOn reports whether a slice is stored in another field than its own.
func MovedOn(v ssa.Value, field *types.Var) bool {
	return slices.ContainsFunc(*v.Referrers(), func(in ssa.Instruction) bool {
		switch in := in.(type) {
		case *ssa.Slice:
			return MovedOn(in, field)
		case *ssa.Store:
			f, ok := in.Addr.(*ssa.FieldAddr)
			return ok && in.Val == v && Field(f) != field
		case *ssa.Call:
			b, ok := in.Call.Value.(*ssa.Builtin)
			return ok && b.Name() == "append" && in.Call.Args[0] == v && MovedOn(in, field)
		}
		return false
	})
}

// Outlives reports whether a function still uses what it loaded from a field after it has set the field, or has given up a
// lock.
func Outlives(load *ssa.UnOp) bool {
	at, ok := load.X.(*ssa.FieldAddr)
	if !ok || load.Op != token.MUL {
		return false
	}
	uses := usesOf(load, map[ssa.Value]bool{})
	for in := range Instructions(load.Parent()) {
		if !putsIn(in, Field(at)) && !unlocks(in) || !between(load, in, nil) {
			continue
		}
		if slices.ContainsFunc(uses, func(use ssa.Instruction) bool { return use != in && between(in, use, load) }) {
			return true
		}
	}
	return false
}

func putsIn(in ssa.Instruction, field *types.Var) bool {
	s, ok := in.(*ssa.Store)
	if !ok {
		return false
	}
	f, ok := s.Addr.(*ssa.FieldAddr)
	return ok && Field(f) == field
}

func unlocks(in ssa.Instruction) bool {
	c, ok := in.(*ssa.Call)
	if !ok || c.Call.StaticCallee() == nil {
		return false
	}
	switch c.Call.StaticCallee().RelString(nil) {
	case "(*sync.Mutex).Unlock", "(*sync.RWMutex).Unlock", "(*sync.RWMutex).RUnlock":
		return true
	}
	return false
}

// usesOf are the instructions that use a value, or a part of it that has the same memory.
func usesOf(v ssa.Value, seen map[ssa.Value]bool) (uses []ssa.Instruction) {
	if seen[v] {
		return nil
	}
	seen[v] = true
	for _, in := range *v.Referrers() {
		switch in := in.(type) {
		case *ssa.DebugRef:
		case *ssa.Slice, *ssa.Phi, *ssa.ChangeType, *ssa.Range, *ssa.IndexAddr:
			uses = append(append(uses, in), usesOf(in.(ssa.Value), seen)...)
		default:
			uses = append(uses, in)
		}
	}
	return uses
}

// between reports whether a way leads from one instruction to another, without a third one if that is given.
func between(from, to, without ssa.Instruction) bool {
	index := func(in ssa.Instruction) int { return slices.Index(in.Block().Instrs, in) }
	start, end := from.Block(), to.Block()
	if start == end && index(from) < index(to) {
		return without == nil || without.Block() != start || index(without) < index(from) || index(without) > index(to)
	}
	if without != nil && without.Block() == start && index(without) > index(from) {
		return false
	}
	seen := map[*ssa.BasicBlock]bool{}
	var leads func(b *ssa.BasicBlock) bool
	leads = func(b *ssa.BasicBlock) bool {
		return slices.ContainsFunc(b.Succs, func(s *ssa.BasicBlock) bool {
			switch {
			case s == end:
				return without == nil || without.Block() != s || index(without) > index(to)
			case seen[s], without != nil && without.Block() == s:
				return false
			}
			seen[s] = true
			return leads(s)
		})
	}
	return leads(start)
}
