// Package geo clips outlines to map tiles. The outlines keep some 8 MiB alive;
// the marked site makes the corners of a clipped outline, dead when its area is
// known.
package geo

import (
	"math"
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const outlines = 12_000

type point struct{ x, y float64 }

// World is the outlines.
type World struct {
	all []*[]point
}

// New builds the outlines; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(51, 52))
	w := &World{}
	for range outlines {
		x, y := r.Float64()*1000, r.Float64()*1000
		corners := make([]point, 24+r.IntN(32))
		for i := range corners {
			angle := 2 * math.Pi * float64(i) / float64(len(corners))
			radius := 10 + 20*r.Float64()
			corners[i] = point{x + radius*math.Cos(angle), y + radius*math.Sin(angle)}
		}
		w.all = append(w.all, &corners)
	}
	return w
}

// Worker returns the operation: clip sixteen outlines to a tile of their own.
func (w *World) Worker(int) drive.Op {
	c := &clipper{}
	return func(i int) uint64 {
		h := uint32(i)*2654435761 + 1
		sum := uint64(0)
		for range 16 {
			h = h*1664525 + 1013904223
			o := *w.all[int(h>>8)%len(w.all)]
			sum = drive.Mix(sum, uint64(int64(1e3*c.area(o))))
		}
		return sum
	}
}

type clipper struct {
	scratch [2][]point
}

// area is that of the outline's part left of and below its first corner, moved
// by ten.
func (c *clipper) area(o []point) float64 {
	right, top := o[0].x+10, o[0].y+10
	a := c.clip(0, o, func(p point) float64 { return right - p.x })
	b := c.clip(1, a, func(p point) float64 { return top - p.y })
	sum := 0.0
	for i, p := range b {
		q := b[(i+1)%len(b)]
		sum += p.x*q.y - q.x*p.y
	}
	return sum / 2
}

// clip returns the part of an outline with in >= 0. In the version without the
// site it is valid until the next call with the same n.
func (c *clipper) clip(n int, o []point, in func(point) float64) []point {
	out := c.corners(n, 2*len(o)+2)
	for i, p := range o {
		q := o[(i+1)%len(o)]
		a, b := in(p), in(q)
		if a >= 0 {
			out = append(out, p)
		}
		if a*b < 0 {
			t := a / (a - b)
			out = append(out, point{p.x + t*(q.x-p.x), p.y + t*(q.y-p.y)})
		}
	}
	return out
}

func (c *clipper) corners(n, most int) []point {
	if variant.Without {
		if cap(c.scratch[n]) < most {
			c.scratch[n] = make([]point, 0, 512)
		}
		return c.scratch[n][:0]
	}
	return make([]point, 0, most) // site
}
