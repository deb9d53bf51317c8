// Package scores ranks documents for queries by a linear model. The model
// keeps some 40 MiB alive; the marked site makes a vector of features for each
// candidate, dead as soon as the candidate has its score.
package scores

import (
	"math/rand/v2"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const candidates = 24

type document struct {
	terms  []uint32
	length float64
	next   *document // in the same category
}

// World is the model and the documents it ranks.
type World struct {
	weights [][]float64 // by category, one for each feature
	docs    []*document
}

// New builds model and documents; they are the same on every call.
func New() *World {
	const features = 160
	r := rand.New(rand.NewPCG(21, 22))
	w := &World{}
	for range 64 {
		row := make([]float64, features)
		for i := range row {
			row[i] = r.Float64() - 0.5
		}
		w.weights = append(w.weights, row)
	}
	var last [64]*document
	for i := range 120_000 {
		d := &document{terms: make([]uint32, 48+r.IntN(48)), length: 1 + r.Float64()}
		for k := range d.terms {
			d.terms[k] = r.Uint32()
		}
		d.next, last[i%64] = last[i%64], d
		w.docs = append(w.docs, d)
	}
	return w
}

// Worker returns the operation: rank the candidates of one query.
func (w *World) Worker(int) drive.Op {
	k := &ranker{world: w}
	return func(i int) uint64 { return k.query(uint32(i)) }
}

type ranker struct {
	world   *World
	scratch []float64
}

func (k *ranker) query(q uint32) uint64 {
	h := q*2654435761 + 1
	weights := k.world.weights[h%64]
	best, at := -1e18, 0
	for c := range candidates {
		h = h*1664525 + 1013904223
		d := k.world.docs[int(h>>8)%len(k.world.docs)]
		if s := dot(weights, k.vector(d, q, len(weights))); s > best {
			best, at = s, c
		}
	}
	return drive.Mix(uint64(at), uint64(int64(best*1e6)))
}

// vector counts a document's terms by feature. In the version without the
// site it is valid until the next call.
func (k *ranker) vector(d *document, q uint32, features int) []float64 {
	var v []float64
	if variant.Without {
		if k.scratch == nil {
			k.scratch = make([]float64, features)
		}
		v = k.scratch
		clear(v)
	} else {
		v = make([]float64, features) // site
	}
	for _, t := range d.terms {
		v[int(t^q)%features] += 1 / d.length
	}
	return v
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
