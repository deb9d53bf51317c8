package run

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// callPath is a stack that allocates at a site. It holds the numbers of Locations, as a
// profile has many more stacks than Locations.
type callPath struct {
	hash   uint64
	weight float64
	of     *stack.Classifier // of the profile with these Locations
	path   []byte            // Location.Index from the leaf outwards, as varints
	part   MixKey
}

// maxStacks bounds the call paths kept for a site, whatever the profile's size.
const maxStacks = 64

// addStack keeps a call path of one part with its weight; the lightest ones are dropped.
func (t *Site) addStack(c *stack.Classifier, locs []*evidence.Location, part MixKey, w float64) {
	if w <= 0 {
		return
	}
	h := uint64(14695981039346656037)
	for _, l := range locs {
		h = (h ^ uint64(l.Index+1)) * 1099511628211
	}
	for i := range t.stacks {
		if t.stacks[i].hash == h {
			t.stacks[i].weight += w
			return
		}
	}
	if len(t.stacks) < maxStacks {
		t.stacks = append(t.stacks, callPath{})
	}
	s := &t.stacks[len(t.stacks)-1]
	if s.weight > 0 {
		s = t.lightest()
	}
	var buf [512]byte
	path := buf[:0]
	for _, l := range locs {
		c.Loc(l)
		path = binary.AppendUvarint(path, uint64(l.Index))
	}
	// Most sites fill few of their places, so memory is for what is there.
	s.hash, s.weight, s.of, s.path, s.part = h, w, c, append(s.path[:0], path...), part
}

// Forget drops the lines and the call paths of all sites, which are most of the memory.
func (d *Data) Forget() {
	d.Lines = nil
	for _, t := range d.Sites.Sites {
		t.stacks = nil
	}
}

// lightest is the call path to drop for another.
func (t *Site) lightest() *callPath {
	best := &t.stacks[0]
	for i := range t.stacks {
		if s := &t.stacks[i]; s.weight < best.weight || s.weight == best.weight && s.hash < best.hash {
			best = s
		}
	}
	return best
}

// Heaviest returns up to n call paths, heaviest first, with their share.
func (t *Site) Heaviest(n int) []finding.Stack {
	total := 0.0
	all := make([]*callPath, len(t.stacks))
	for i := range t.stacks {
		all[i] = &t.stacks[i]
		total += all[i].weight
	}
	slices.SortFunc(all, func(a, b *callPath) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), compareFrames(a, b))
	})
	var out []finding.Stack
	for i, s := range all[:min(n, len(all))] {
		// Stacks from CPU samples alone have almost no weight.
		if i > 0 && s.weight < 0.001*total {
			break
		}
		out = append(out, finding.Stack{Frames: s.frames(), Share: s.weight / total, Kind: s.part.Kind, Via: s.part.Via})
	}
	return out
}

func (s *callPath) frames() []evidence.Frame {
	var out []evidence.Frame
	for c := s.walk(); c.next(); {
		out = append(out, c.location.Frames...)
	}
	return out
}

// pathWalk goes along a call path from the leaf outwards.
type pathWalk struct {
	*callPath
	rest     []byte
	location *evidence.Location
}

func (s *callPath) walk() pathWalk { return pathWalk{callPath: s, rest: s.path} }

func (w *pathWalk) next() bool {
	at, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return false
	}
	w.rest, w.location = w.rest[n:], w.of.At(int(at))
	return true
}

// compareFrames orders call paths by function and line from the leaf outwards.
func compareFrames(a, b *callPath) int {
	wa, wb := a.walk(), b.walk()
	var fa, fb []evidence.Frame
	for {
		if len(fa) == 0 && wa.next() {
			fa = wa.location.Frames
		}
		if len(fb) == 0 && wb.next() {
			fb = wb.location.Frames
		}
		if len(fa) == 0 || len(fb) == 0 {
			return cmp.Compare(len(fa), len(fb))
		}
		if c := cmp.Or(cmp.Compare(fa[0].Function, fb[0].Function), cmp.Compare(fa[0].Line, fb[0].Line)); c != 0 {
			return c
		}
		fa, fb = fa[1:], fb[1:]
	}
}
