package pool

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Values is a pool of values of T, for a type that is itself a reference – a
// slice, a small struct of pointers – and would have to be boxed for a [sync.Pool].
// For anything that can be had by pointer, [Of] is twice as fast. The zero
// value is ready to use. It must not be copied, nor its fields changed, after the
// first use. All methods may be called by any number of goroutines at once.
//
// What lies unused over two collections is dropped. Misuse of values cannot be
// recognised: there is no checking mode.
type Values[T any] struct {
	// New makes a value when the pool is empty; nil means the zero value.
	New func() T

	_      noCopy
	full   sync.Pool // of unsafe.Pointer to holder[T] with a value
	empty  sync.Pool // of the same without
	misses atomic.Uint64
}

// holder is what a value lies in. Of different Ps, they must not share a cache line.
type holder[T any] struct {
	v T
	_ [64]byte
}

// Get returns a value: one that was put, or a new one.
func (p *Values[T]) Get() T {
	x, _ := p.full.Get().(unsafe.Pointer)
	if x == nil {
		return p.make()
	}
	h := (*holder[T])(x)
	v := h.v
	var zero T
	h.v = zero // lest it keep what the value refers to
	p.empty.Put(x)
	return v
}

//go:noinline
func (p *Values[T]) make() T {
	p.misses.Add(1)
	if p.New != nil {
		return p.New()
	}
	var zero T
	return zero
}

// Put gives v back; its owner must not use what it refers to any more.
func (p *Values[T]) Put(v T) {
	x, _ := p.empty.Get().(unsafe.Pointer)
	if x == nil {
		x = unsafe.Pointer(new(holder[T]))
	}
	(*holder[T])(x).v = v
	p.full.Put(x)
}

// Stats returns the counts so far.
func (p *Values[T]) Stats() OfStats { return OfStats{Misses: p.misses.Load()} }
