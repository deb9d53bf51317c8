package run

import (
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Lines tallies the user's lines of one run, callees included.
type Lines map[stack.Key]*Line

// Line is the cost of one line, callees included. A stack counts once for each line on it.
type Line struct {
	stack               int                       // that counted last
	CPU                 [stack.ClassCount]float64 // samples
	Objects, Bytes, Own float64                   // Own: bytes that the line is charged for as a site
}

// maxLines bounds the lines kept for one run; the first ones seen are kept.
const maxLines = 1 << 15

func (l Lines) at(k stack.Key) *Line {
	t := l[k]
	if t == nil {
		t = &Line{}
		if len(l) < maxLines {
			l[k] = t
		}
	}
	return t
}

// reading is one profile while its samples are counted.
type reading struct {
	*stack.Classifier
	data  *Data
	sites stack.PerSite[*Site]
	lines [][]*Line // by Location.Index
}

func (d *Data) reading(c *stack.Classifier, p *evidence.Profile) *reading {
	return &reading{c, d, stack.NewPerSite(c, d.Sites.at), make([][]*Line, p.Locations)}
}

// site returns the tally of the site that a stack allocates at.
func (r *reading) site(locs []*evidence.Location) (*Site, stack.Path) {
	p := stack.FindPath(r.Classifier, locs)
	return r.sites.Of(p), p
}

// eachLine calls f once for every line of the user's on a stack, leaf first.
func (r *reading) eachLine(locs []*evidence.Location, f func(t *Line, innermost bool)) {
	r.data.parts.stacks++
	innermost := true
	for _, loc := range locs {
		lines := r.lines[loc.Index]
		if lines == nil {
			lines = r.linesOf(loc)
			r.lines[loc.Index] = lines
		}
		for _, t := range lines {
			if t.stack != r.data.parts.stacks {
				t.stack = r.data.parts.stacks
				f(t, innermost)
				innermost = false
			}
		}
	}
}

// linesOf returns the user's lines of a Location; not nil.
func (r *reading) linesOf(loc *evidence.Location) []*Line {
	out := []*Line{}
	lc := r.Loc(loc)
	for i, fr := range loc.Frames {
		if lc.Frames[i].Owner == stack.OwnerUser {
			out = append(out, r.data.Lines.at(stack.Key{Function: stack.AnyTypes(fr.Function), File: fr.File,
				Line: fr.Line, By: stack.OwnerUser}))
		}
	}
	return out
}

func (r *reading) addCPULines(locs []*evidence.Location, b stack.Bucket, n float64) {
	r.eachLine(locs, func(t *Line, _ bool) { t.CPU[b.Class()] += n })
}

func (r *reading) addHeapLines(locs []*evidence.Location, objects, bytes float64) {
	r.eachLine(locs, func(t *Line, innermost bool) {
		t.Objects += objects
		t.Bytes += bytes
		if innermost {
			t.Own += bytes
		}
	})
}
