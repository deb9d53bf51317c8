package pool

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Values is a pool of values of T, for a type that is itself a reference – a
// slice, a small struct of pointers – and would have to be boxed for a [sync.Pool].
// For anything that can be had by pointer, [Of] is three times as fast. The zero
// value is ready to use. It must not be copied, nor its fields changed, after the
// first use. All methods may be called by any number of goroutines at once.
//
// What lies unused over two collections is dropped. Misuse of values cannot be
// recognised: there is no checking mode.
type Values[T any] struct {
	// New makes a value when the pool is empty; nil means the zero value.
	New func() T

	_      noCopy
	some   sync.Pool // of *hand[T]: what Get and Put work on
	full   sync.Pool // of *hand[T] that are full
	misses atomic.Uint64
}

const handLen = 8

// hand holds a few values; its owner is whoever took it out of the sync.Pool.
type hand[T any] struct {
	n int
	v [handLen]T
	_ [64]byte // of different Ps, they must not share a cache line
}

// Get returns a value: one that was put, or a new one.
func (p *Values[T]) Get() T {
	if x, _ := p.some.Get().(unsafe.Pointer); x != nil {
		h := (*hand[T])(x)
		if i := h.n - 1; uint(i) < handLen {
			v := h.v[i]
			clear(h.v[i : i+1])
			h.n = i
			p.some.Put(x)
			return v
		}
		p.some.Put(x)
	}
	return p.make()
}

//go:noinline
func (p *Values[T]) make() T {
	if x, _ := p.full.Get().(unsafe.Pointer); x != nil {
		h := (*hand[T])(x)
		h.n--
		v := h.v[h.n]
		clear(h.v[h.n : h.n+1])
		p.some.Put(x)
		return v
	}
	p.misses.Add(1)
	if p.New != nil {
		return p.New()
	}
	var zero T
	return zero
}

// Put gives v back; its owner must not use what it refers to any more.
func (p *Values[T]) Put(v T) {
	x, _ := p.some.Get().(unsafe.Pointer)
	h := (*hand[T])(x)
	if h == nil || uint(h.n) >= handLen {
		h = p.another(h)
		x = unsafe.Pointer(h)
	}
	h.v[h.n] = v
	h.n++
	p.some.Put(x)
}

// another sets a full hand aside and returns one that has room.
//
//go:noinline
func (p *Values[T]) another(h *hand[T]) *hand[T] {
	if h != nil {
		p.full.Put(unsafe.Pointer(h))
	}
	return new(hand[T])
}

// Stats returns the counts so far.
func (p *Values[T]) Stats() OfStats { return OfStats{Misses: p.misses.Load()} }
