package pool

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// Of is a pool of pointers to T. The zero value is ready to use. It must not be
// copied, nor its fields changed, after the first use. All methods may be called
// by any number of goroutines at once.
//
// It keeps objects as [sync.Pool] does: what lies unused over two collections is
// dropped.
type Of[T any] struct {
	pool sync.Pool // of unsafe.Pointer

	// New makes an object when the pool is empty. If it is nil, new(T) does.
	New func() *T
	// Reset is called by Put: to empty the object, and above all to let go of
	// what it refers to, which would live as long as the pool keeps it. nil means
	// that users of Get take the object as they find it.
	Reset func(*T)
	// Keep is asked by Put before Reset; if it returns false, the object is left
	// to the collector: it has grown too large, say. nil keeps all.
	Keep func(*T) bool
	// Report is called for every misuse that the checking mode finds; see
	// [Bytes.Report].
	Report func(*Misuse)

	misses atomic.Uint64
	drops  atomic.Uint64
	checks checks
}

// Get returns an object: one that was put, or a new one.
func (p *Of[T]) Get() *T {
	if checking {
		return p.checkedGet()
	}
	return p.get(fromPool, missed)
}

// get and put are inlined into their callers. The compiler's budget for that has
// room for one call, of the sync.Pool; but it takes the call of a parameter for a
// third of one, and then finds out what the parameter is. TestFastPathsInline holds
// it.
func (p *Of[T]) get(get func(*sync.Pool) (unsafe.Pointer, bool), missed func(rest) unsafe.Pointer) *T {
	if x, ok := get(&p.pool); ok {
		return (*T)(x)
	}
	return (*T)(missed((*restOf[T])(p)))
}

func (p *Of[T]) make() *T {
	p.misses.Add(1)
	if p.New != nil {
		return p.New()
	}
	return new(T)
}

// Put gives x, which Get returned, back; its owner must not use it any more. Put
// of nil does nothing. A second Put of the same object is not noticed outside the
// checking mode, and has it handed out twice.
func (p *Of[T]) Put(x *T) {
	if checking {
		p.checkedPut(x)
		return
	}
	p.put(toPool, special, x)
}

func (p *Of[T]) put(put func(*sync.Pool, unsafe.Pointer), special func(rest, unsafe.Pointer), x *T) {
	// Both hooks in one comparison, with which the way without hooks has no jump.
	hooks := *(*uintptr)(unsafe.Pointer(&p.Keep)) | *(*uintptr)(unsafe.Pointer(&p.Reset))
	if hooks == 0 && x != nil {
		put(&p.pool, unsafe.Pointer(x))
		return
	}
	special((*restOf[T])(p), unsafe.Pointer(x))
}

// rest is the part of an Of that Get and Put do not have inlined.
type rest interface {
	make() unsafe.Pointer
	put(unsafe.Pointer)
}

//go:noinline
func missed(r rest) unsafe.Pointer { return r.make() }

//go:noinline
func special(r rest, x unsafe.Pointer) { r.put(x) }

type restOf[T any] Of[T]

func (r *restOf[T]) make() unsafe.Pointer { return unsafe.Pointer((*Of[T])(r).make()) }

func (r *restOf[T]) put(x unsafe.Pointer) {
	if x != nil && (*Of[T])(r).keep((*T)(x)) {
		r.pool.Put(x)
	}
}

// fromPool returns what lies in p, if anything does.
func fromPool(p *sync.Pool) (unsafe.Pointer, bool) {
	x, ok := p.Get().(unsafe.Pointer)
	return x, ok
}

func toPool(p *sync.Pool, x unsafe.Pointer) { p.Put(x) }

// keep reports whether x is kept, and resets it.
func (p *Of[T]) keep(x *T) bool {
	if p.Keep != nil && !p.Keep(x) {
		p.drops.Add(1)
		return false
	}
	if p.Reset != nil {
		p.Reset(x)
	}
	return true
}

// OfStats counts what an [Of] or [Values] did. There is no count of hits: that
// would cost more than a Get.
type OfStats struct {
	Misses uint64 // Gets that found the pool empty
	Drops  uint64 // Puts that Keep refused
}

// Stats returns the counts so far.
func (p *Of[T]) Stats() OfStats {
	return OfStats{Misses: p.misses.Load(), Drops: p.drops.Load()}
}

func (p *Of[T]) checkedGet() *T {
	size := int(unsafe.Sizeof(*new(T)))
	if size == 0 {
		return p.make() // all are one and the same
	}
	return (*T)(p.checks.get(size, p.Report, (*restOf[T])(p).make))
}

func (p *Of[T]) checkedPut(x *T) {
	if size := int(unsafe.Sizeof(*new(T))); x != nil && size > 0 {
		p.checks.put(unsafe.Pointer(x), size, p.Report, func() bool { return p.keep(x) })
	}
}

// Check looks through all that lies free in p for writes after Put, reports them,
// and returns how many there are. Only the object itself is looked at, not what it
// points to. Outside the checking mode it returns 0.
func (p *Of[T]) Check() int {
	return p.checks.check(p.Report)
}
