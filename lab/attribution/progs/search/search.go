// Package search scatters each query to goroutines, one per shard of an
// index, and merges what they found. Some thousand idle goroutines and some
// 30 MiB of documents are alive; the marked site makes each shard's list of
// hits, which lives until the merge.
package search

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const shards = 4

type document struct {
	id    int
	title string
	terms []uint32 // sorted
	rank  float64
}

type posting struct {
	doc   *document
	count uint32
}

type shard struct {
	postings map[uint32][]posting
}

type hit struct {
	doc   *document
	score float64
}

// World is the index, with idle connections waiting on it.
type World struct {
	shards []*shard
	docs   []*document
	idle   chan struct{} // never closed; holds the idle connections
}

const terms = 2000

// New builds the index; it is the same on every call. It leaves goroutines
// behind that wait for as long as the process lives.
func New() *World {
	r := rand.New(rand.NewPCG(12, 13))
	w := &World{idle: make(chan struct{})}
	for range shards {
		w.shards = append(w.shards, &shard{postings: map[uint32][]posting{}})
	}
	for i := range 50_000 {
		d := &document{id: i, title: fmt.Sprintf("On the matter of document %d", i), rank: r.Float64()}
		for range 12 {
			d.terms = append(d.terms, r.Uint32N(terms))
		}
		slices.Sort(d.terms)
		d.terms = slices.Compact(d.terms)
		s := w.shards[i%shards]
		for _, t := range d.terms {
			s.postings[t] = append(s.postings[t], posting{d, 1 + r.Uint32N(9)})
		}
		w.docs = append(w.docs, d)
	}
	for i := range 2000 {
		go w.connection(i)
	}
	return w
}

func (w *World) connection(id int) {
	<-w.idle
	_ = w.docs[id]
}

// Worker returns the operation: answer one query.
func (w *World) Worker(int) drive.Op {
	q := &querier{world: w}
	return func(i int) uint64 {
		best := q.run(uint32(i*31%terms), uint32(i*17%terms))
		sum := uint64(1)
		for _, h := range best {
			sum = drive.Mix(sum, uint64(h.doc.id))
		}
		return sum
	}
}

type querier struct {
	world   *World
	scratch [shards][]hit
	found   [shards][]hit
	merged  []hit
}

// run returns the ten best documents that have either term. The result is
// valid until the next run.
func (q *querier) run(a, b uint32) []hit {
	var wg sync.WaitGroup
	for i, s := range q.world.shards {
		wg.Go(func() {
			pa, pb := s.postings[a], s.postings[b]
			n := len(pa) + len(pb)
			var hits []hit
			if variant.Without {
				hits = slices.Grow(q.scratch[i][:0], n)
				q.scratch[i] = hits
			} else {
				hits = make([]hit, 0, n) // site
			}
			hits = appendScored(hits, pa)
			hits = appendScored(hits, pb)
			q.found[i] = top(hits, 10)
		})
	}
	wg.Wait()
	q.merged = q.merged[:0]
	for i := range q.found {
		q.merged = append(q.merged, q.found[i]...)
		q.found[i] = nil
	}
	return top(q.merged, 10)
}

func appendScored(hits []hit, list []posting) []hit {
	for _, p := range list {
		hits = append(hits, hit{p.doc, p.doc.rank * float64(p.count)})
	}
	return hits
}

// top moves the n best hits to the front, in order, and returns them.
func top(hits []hit, n int) []hit {
	for i := range min(n, len(hits)) {
		best := i
		for k := i + 1; k < len(hits); k++ {
			if byScore(hits[k], hits[best]) < 0 {
				best = k
			}
		}
		hits[i], hits[best] = hits[best], hits[i]
	}
	return hits[:min(n, len(hits))]
}

func byScore(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.doc.id, b.doc.id))
}
