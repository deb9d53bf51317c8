package life

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// partOf notes what the object itself is stored in a variable or field of. What holds it only by
// way of something else is left out: a copy of its holder has it, too, and is no owner.
func (s *scan) partOf(h held, at ssa.Value) {
	if h.mode != direct {
		return
	}
	for _, r := range rootsOf(at) {
		if _, ok := r.(*ssa.Alloc); !ok {
			continue
		}
		if s.out.part == nil {
			s.out.part = map[token.Pos]bool{}
		}
		s.out.part[r.Pos()] = true
	}
}
