package pool

import (
	"sync"
	"sync/atomic"
)

// Values is a pool of values of T, for a type that is itself a reference – a
// slice, a small struct of pointers – and would have to be boxed for a [sync.Pool].
// For anything that can be had by pointer there is [Of], which copies nothing. The zero
// value is ready to use. It must not be copied, nor its fields changed, after the
// first use. All methods may be called by any number of goroutines at once.
//
// It keeps values as [sync.Pool] does: what lies unused over two collections is
// dropped. Misuse of values cannot be recognised: there is no checking mode.
type Values[T any] struct {
	full  sync.Pool // of *holder[T], with a value
	empty sync.Pool // of the same without

	// New makes a value when the pool is empty; nil means the zero value.
	New func() T

	misses atomic.Uint64
}

// holder is what a value lies in. Those of different Ps must not share a cache line.
type holder[T any] struct {
	v T
	_ [64]byte
}

// Get returns a value: one that was put, or a new one.
func (p *Values[T]) Get() (v T) {
	h, _ := p.full.Get().(*holder[T])
	if h == nil {
		p.misses.Add(1)
		if p.New != nil {
			v = p.New()
		}
		return v
	}
	v, h.v = h.v, v // so that the holder does not keep the value alive
	p.empty.Put(h)
	return v
}

// Put gives v back; its owner must not use what it refers to any more.
func (p *Values[T]) Put(v T) {
	h, _ := p.empty.Get().(*holder[T])
	if h == nil {
		h = new(holder[T])
	}
	h.v = v
	p.full.Put(h)
}

// Stats returns the counts so far.
func (p *Values[T]) Stats() OfStats { return OfStats{Misses: p.misses.Load()} }
