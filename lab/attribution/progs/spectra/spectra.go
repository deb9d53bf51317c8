// Package spectra compares short sound clips by their spectra. The clips keep
// some 12 MiB of plain numbers alive; the marked site makes the spectrum of a
// clip, dead when it has been compared.
package spectra

import (
	"math"
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const (
	samples = 512
	clips   = 3000
)

// World holds the clips and a table of cosines.
type World struct {
	clips  [][]float64
	cosine [samples]float64
}

// New makes the clips; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(55, 56))
	w := &World{}
	for i := range w.cosine {
		w.cosine[i] = math.Cos(2 * math.Pi * float64(i) / samples)
	}
	for range clips {
		c := make([]float64, samples)
		for i := range c {
			c[i] = r.Float64() - 0.5
		}
		w.clips = append(w.clips, c)
	}
	return w
}

// Worker returns the operation: the distance of two clips.
func (w *World) Worker(int) drive.Op {
	a := &analyser{world: w}
	return func(i int) uint64 {
		x, y := a.spectrum(w.clips[i%clips], 0), a.spectrum(w.clips[(i*7+1)%clips], 1)
		sum := 0.0
		for k := range x {
			sum += (x[k] - y[k]) * (x[k] - y[k])
		}
		return math.Float64bits(sum)
	}
}

type analyser struct {
	world   *World
	scratch [2][]float64
}

// spectrum smooths a clip in one pass. In the version without the site the result is
// valid until the next call with the same slot.
func (a *analyser) spectrum(clip []float64, slot int) []float64 {
	out := a.vector(len(clip), slot)
	re := 0.0
	for i, v := range clip {
		re = 0.97*re + v*a.world.cosine[i*3%samples]
		out[i] = re * re
	}
	return out
}

func (a *analyser) vector(n, slot int) []float64 {
	if variant.Without {
		if a.scratch[slot] == nil {
			a.scratch[slot] = make([]float64, n)
		}
		return a.scratch[slot][:n]
	}
	return make([]float64, n) // site
}
