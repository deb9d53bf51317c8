package run

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Lines tallies the user's lines of one run, callees included.
type Lines map[stack.Key]*Line

// Line is the cost of one line, callees included. A stack counts once for each line on it.
type Line struct {
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

// each calls f once for every line of the user's on a stack, leaf first.
func (l Lines) each(c *stack.Classifier, locs []*evidence.Location, f func(t *Line, innermost bool)) {
	var few [16]*Line
	seen := few[:0]
	for _, loc := range locs {
		lc := c.Loc(loc)
		for i, fr := range loc.Frames {
			if lc.Frames[i].Owner != stack.OwnerUser {
				continue
			}
			t := l.at(stack.Key{Function: stack.AnyTypes(fr.Function), File: fr.File, Line: fr.Line,
				By: stack.OwnerUser})
			if !slices.Contains(seen, t) {
				f(t, len(seen) == 0)
				seen = append(seen, t)
			}
		}
	}
}

func (l Lines) addCPU(c *stack.Classifier, locs []*evidence.Location, b stack.Bucket, n float64) {
	l.each(c, locs, func(t *Line, _ bool) { t.CPU[b.Class()] += n })
}

func (l Lines) addHeap(c *stack.Classifier, locs []*evidence.Location, objects, bytes float64) {
	l.each(c, locs, func(t *Line, innermost bool) {
		t.Objects += objects
		t.Bytes += bytes
		if innermost {
			t.Own += bytes
		}
	})
}
