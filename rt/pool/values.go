package pool

import (
	"sync/atomic"
	"unsafe"
)

// Values is a pool of values of T, for a type that is itself a reference – a
// slice, a small struct of pointers – and would have to be boxed for a [sync.Pool].
// For anything that can be had by pointer there is [Of], which copies nothing. The zero
// value is ready to use. It must not be copied, nor its fields changed, after the
// first use. All methods may be called by any number of goroutines at once.
//
// A goroutine that keeps using a Values has up to 16 values to itself, as with [Bytes].
// What lies unused over two collections is dropped, and what a goroutine has to itself
// over four. Misuse of values cannot be recognised: there is no checking mode.
type Values[T any] struct {
	holders holders // of T

	// New makes a value when the pool is empty; nil means the zero value.
	New func() T

	_      noCopy
	misses atomic.Uint64
}

// holderOf is what a value lies in. Of different Ps, they must not share a cache line.
type holderOf[T any] struct {
	holder
	v T
	_ [48]byte
}

// Get returns a value: one that was put, or a new one.
func (p *Values[T]) Get() (v T) {
	p.get(takeFull, backEmpty, &v)
	return v
}

// get and put are inlined as those of Of are: a value is copied to and from where it
// lies by the caller, or it would be copied once more. A result of get would be one more
// copy of a large value.
func (p *Values[T]) get(take func(*holders, maker) (x unsafe.Pointer, borrowed *holder), back func(*holders, *holder), v *T) {
	x, borrowed := take(&p.holders, (*filler[T])(p))
	*v = *(*T)(x)
	var zero T
	*(*T)(x) = zero // lest it keep what the value refers to
	if borrowed != nil {
		back(&p.holders, borrowed)
	}
}

// filler makes a holder with a new value.
type filler[T any] Values[T]

func (p *filler[T]) make() unsafe.Pointer {
	p.misses.Add(1)
	h := new(holderOf[T])
	if p.New != nil {
		h.v = p.New()
	}
	return unsafe.Pointer(h)
}

// Put gives v back; its owner must not use what it refers to any more.
func (p *Values[T]) Put(v T) { p.put(takeEmpty, backFull, v) }

func (p *Values[T]) put(take func(*holders, maker) (x unsafe.Pointer, borrowed *holder), back func(*holders, *holder), v T) {
	x, borrowed := take(&p.holders, (*hollow[T])(p))
	*(*T)(x) = v
	if borrowed != nil {
		back(&p.holders, borrowed)
	}
}

// hollow makes a holder without a value.
type hollow[T any] Values[T]

func (*hollow[T]) make() unsafe.Pointer { return unsafe.Pointer(new(holderOf[T])) }

// Stats returns the counts so far.
func (p *Values[T]) Stats() OfStats { return OfStats{Misses: p.misses.Load()} }
