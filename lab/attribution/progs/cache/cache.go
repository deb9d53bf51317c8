// Package cache is a cache of rendered fragments with least-recently-stored
// eviction. Some 150 MiB are alive, most of them bytes without pointers; the
// marked site keeps, for every entry, a pointer-rich record of how it came
// about, which nothing reads again.
package cache

import (
	"fmt"
	"math/rand/v2"
	"runtime"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

const entriesPerShard = 80_000

type step struct {
	stage *string
	_     [2]*step // neighbours, for the tracer that is off here: the collector scans them
	entry *entry
	at    uint64
	_     [3]*string // labels, filled when tracing is on
}

type entry struct {
	key   uint64
	body  []byte
	slot  int
	steps *step
}

type shard struct {
	rand    *rand.Rand
	entries map[uint64]*entry
	ring    []*entry // in order of storing
	hand    int
}

// World is the cache, with one shard per CPU.
type World struct {
	shards []*shard
	stages []*string
}

// New fills the cache; it is the same on every call.
func New() *World {
	w := &World{}
	for i := range 8 {
		s := fmt.Sprintf("stage %d", i)
		w.stages = append(w.stages, &s)
	}
	for i := range runtime.GOMAXPROCS(0) {
		s := &shard{
			rand:    rand.New(rand.NewPCG(18, uint64(i))),
			entries: make(map[uint64]*entry, entriesPerShard),
			ring:    make([]*entry, entriesPerShard),
		}
		for range entriesPerShard {
			w.store(s, s.rand.Uint64(), 0)
		}
		w.shards = append(w.shards, s)
	}
	return w
}

// Worker returns the operation: 6 lookups that hit and one that misses and stores.
func (w *World) Worker(worker int) drive.Op {
	s := w.shards[worker%len(w.shards)]
	return func(i int) uint64 {
		sum := uint64(1)
		for range 6 {
			e := s.entries[s.ring[s.rand.IntN(len(s.ring))].key]
			sum = drive.Mix(sum, uint64(e.body[int(sum%uint64(len(e.body)))]))
		}
		e := w.store(s, s.rand.Uint64(), uint64(i))
		return drive.Mix(sum, e.key)
	}
}

func (w *World) store(s *shard, key, now uint64) *entry {
	if old := s.ring[s.hand]; old != nil {
		delete(s.entries, old.key)
	}
	e := &entry{key: key, body: render(key), slot: s.hand}
	if !variant.Without {
		e.steps = &step{stage: w.stages[key%8], entry: e, at: now} // site
	}
	s.entries[key] = e
	s.ring[s.hand] = e
	s.hand = (s.hand + 1) % len(s.ring)
	return e
}

// render makes the fragment of a key: scratch work first, then the bytes that
// are kept.
func render(key uint64) []byte {
	parts := make([]*[64]byte, 0, 12)
	for i := range 12 {
		p := new([64]byte)
		for k := range p {
			p[k] = byte(key>>(k&31)) + byte(i)
		}
		parts = append(parts, p)
	}
	body := make([]byte, 0, len(parts)*64)
	for _, p := range parts {
		body = append(body, p[:]...)
	}
	return body
}
