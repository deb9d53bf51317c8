package run

import (
	"cmp"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
)

// Caller is a call of a site's function, with its share of the site's stacks.
type Caller struct {
	Key   stack.Key
	Share float64
}

// Callers returns the functions of the user's own code that call the site's function, each at
// its heaviest call, heaviest first.
func (t *Site) Callers(own *stack.Ownership) []Caller {
	total, lines, functions := 0.0, map[stack.Key]float64{}, map[string]float64{}
	for i := range t.stacks {
		s := &t.stacks[i]
		total += s.weight
		if k, ok := t.callerIn(s, own); ok {
			lines[k] += s.weight
			functions[k.Function] += s.weight
		}
	}
	var out []Caller
	for k, w := range lines {
		out = append(out, Caller{k, w})
	}
	slices.SortFunc(out, func(a, b Caller) int {
		return cmp.Or(cmp.Compare(functions[b.Key.Function], functions[a.Key.Function]),
			cmp.Compare(a.Key.Function, b.Key.Function), cmp.Compare(b.Share, a.Share), cmp.Compare(a.Key.Line, b.Key.Line))
	})
	out = slices.CompactFunc(out, func(a, b Caller) bool { return a.Key.Function == b.Key.Function })
	for i := range out {
		out[i].Share = functions[out[i].Key.Function] / total
	}
	return out
}

// callerIn finds the first frame of the user's own code outside the site's function.
func (t *Site) callerIn(s *callPath, own *stack.Ownership) (stack.Key, bool) {
	inside := false
	for w := s.walk(); w.next(); {
		for _, f := range w.location.Frames {
			function := stack.AnyTypes(f.Function)
			switch {
			case function == t.Key.Function:
				inside = true
			case inside && own.Mine(f):
				return stack.Key{Function: function, File: f.File, Line: f.Line}, true
			}
		}
	}
	return stack.Key{}, false
}
