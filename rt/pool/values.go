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
func (p *Values[T]) Get() (v T) {
	p.get(taken, toPool, &v)
	return v
}

// get and put are inlined as those of Of are, with no call but the four of the
// sync.Pools. A result of get would be one more copy of a large value.
func (p *Values[T]) get(take func(*sync.Pool, maker) unsafe.Pointer, put func(*sync.Pool, unsafe.Pointer), v *T) {
	h := (*holder[T])(take(&p.full, (*filler[T])(p)))
	*v = h.v
	var zero T
	h.v = zero // lest it keep what the value refers to
	put(&p.empty, unsafe.Pointer(h))
}

// filler makes a holder with a new value.
type filler[T any] Values[T]

func (p *filler[T]) make() unsafe.Pointer {
	p.misses.Add(1)
	h := new(holder[T])
	if p.New != nil {
		h.v = p.New()
	}
	return unsafe.Pointer(h)
}

// Put gives v back; its owner must not use what it refers to any more.
func (p *Values[T]) Put(v T) { p.put(taken, toPool, v) }

func (p *Values[T]) put(take func(*sync.Pool, maker) unsafe.Pointer, put func(*sync.Pool, unsafe.Pointer), v T) {
	h := (*holder[T])(take(&p.empty, (*hollow[T])(p)))
	h.v = v
	put(&p.full, unsafe.Pointer(h))
}

// hollow makes a holder without a value.
type hollow[T any] Values[T]

func (*hollow[T]) make() unsafe.Pointer { return unsafe.Pointer(new(holder[T])) }

// taken returns what lies in p, or what m makes.
func taken(p *sync.Pool, m maker) unsafe.Pointer { return takenOr(p, m, fromPool, missed) }

func takenOr(p *sync.Pool, m maker, get func(*sync.Pool) unsafe.Pointer, missed func(maker) unsafe.Pointer) unsafe.Pointer {
	if x := get(p); x != nil {
		return x
	}
	return missed(m)
}

// Stats returns the counts so far.
func (p *Values[T]) Stats() OfStats { return OfStats{Misses: p.misses.Load()} }
