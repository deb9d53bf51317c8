package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Bytes is a pool of byte slices of all sizes. The zero value is ready to use. It
// must not be copied, nor its fields changed, after the first use. All methods may
// be called by any number of goroutines at once.
type Bytes struct {
	caches sync.Pool // of *Local; in front, where it has the address of the Bytes

	// MaxBytes bounds the bytes that lie free in the shared part of the pool;
	// what is put beyond is dropped. On top come, at the utmost, a quarter of it
	// in the hands of the pool, a sixth of it for each Local and each goroutine with
	// a cache of its own that uses buffers of all sizes, and two sixths for each P,
	// one of them in a spare cache. 0 means 256 MiB.
	MaxBytes int64
	// MaxSize is the largest capacity that is pooled: requests of a class beyond
	// come from the heap and go back to it. 0, and everything above, means 32 MiB.
	MaxSize int
	// Report is called for every misuse that the checking mode finds, perhaps by
	// several goroutines at once. If it is nil, a [Leak] is written to standard
	// error, and everything else panics with the [*Misuse].
	Report func(*Misuse)

	_      noCopy
	once   sync.Once
	shared atomic.Pointer[depot]
	seats  atomic.Pointer[seats] // of shared, if one is taken
	checks checks
}

// noCopy has go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

func (p *Bytes) maxBytes() int64 {
	if p.MaxBytes > 0 {
		return p.MaxBytes
	}
	return 256 << 20
}

func (p *Bytes) maxSize() int {
	if p.MaxSize > 0 {
		return p.MaxSize
	}
	return maxSize
}

// Get returns a slice of n bytes. Its capacity is that of its class, at most a
// quarter larger than n or 64; its content is anything, also what its last user
// wrote. Get(0) returns an empty slice that has capacity. Get panics if n is
// negative.
//
// The slice is the caller's until Put, which may be never: then the collector
// frees it like any other.
//
//go:nosplit
func (p *Bytes) Get(n int) []byte { // nosplit, as is Put, for the nanosecond that the look for room on the stack takes
	if checking {
		return p.checkedGet(n)
	}
	s := p.seats.Load()
	if !seated || s == nil {
		return p.getBorrowed(n)
	}
	l, ok := s.list.of(goroutine())
	if !ok {
		return p.getBorrowed(n)
	}
	if k := classOf(n); k < numClasses { // as pop
		st := &l.stacks[k]
		t := st.tally
		if top := t % oneGet; top > uint64(st.far) && top <= stackLen {
			if buf := st.s[top]; buf != nil { // or the compiler would load from it to see
				st.s[top] = nil
				st.tally = t + oneGet - 1
				return (*[maxSize]byte)(buf)[:n:st.size]
			}
		}
	}
	return l.refill(n)
}

// getBorrowed is Get by who has no cache.
func (p *Bytes) getBorrowed(n int) []byte {
	l := p.borrow()
	if l != nil {
		if buf, size := l.pop(classOf(n)); buf != nil {
			p.caches.Put(l)
			return unsafe.Slice((*byte)(buf), size)[:n]
		}
	}
	return p.getSlow(l, n)
}

// borrow takes a cache, or nil, which is to be given back.
func (p *Bytes) borrow() *Local { return (*Local)(word(p.caches.Get())) }

// getSlow is Get without a cache, or with a borrowed one that does not simply pop a
// buffer.
//
//go:noinline
func (p *Bytes) getSlow(l *Local, n int) []byte {
	if l == nil {
		l = p.newLocal()
	}
	b := l.refill(n)
	p.giveBack(l)
	return b
}

// GetZeroed is Get, and all bytes up to the capacity are zero.
func (p *Bytes) GetZeroed(n int) []byte {
	var b []byte
	if checking {
		b = p.checkedGet(n)
	} else {
		b = p.Get(n)
	}
	clear(b[:cap(b)])
	return b
}

// Put gives b back; its owner must not use it any more, nor any slice of the same
// memory. It takes what Get returned, resliced to any length, as long as the
// capacity is the same; other slices are dropped, and counted, unless their
// capacity is that of a class. Put of nil does nothing.
//
// A second Put of the same buffer is refused while the buffer lies uppermost of its
// class in the same cache. So it does until something of its class is got or put there,
// or the cache hands it back: at the first Put that it takes after a collection, and
// when another class needs the room. Caches keep classes up to 1/256 of MaxBytes, 1 MiB.
// Otherwise the buffer is handed out twice, as with every other pool; the checking mode
// finds that.
//
//go:nosplit
func (p *Bytes) Put(b []byte) {
	if checking {
		p.checkedPut(b)
		return
	}
	s := p.seats.Load()
	if !seated || s == nil {
		p.putBorrowed(b)
		return
	}
	l, ok := s.list.of(goroutine())
	if !ok {
		p.putBorrowed(b)
		return
	}
	if k := classOf(cap(b)); k < numClasses { // as push
		st := &l.stacks[k]
		t := st.tally
		if top := t % oneGet; top < uint64(st.depth) && top < stackLen {
			buf := unsafe.Pointer(unsafe.SliceData(b))
			if cap(b) == int(st.size) && st.s[top] != buf {
				if atomic.LoadUint32(&s.cycle) == atomic.LoadUint32(&l.cycle) {
					st.s[top+1] = buf
					st.tally = t + 1
					return
				}
			}
		}
	}
	l.putSlow(b)
}

// putBorrowed is Put by who has no cache.
func (p *Bytes) putBorrowed(b []byte) {
	l := p.borrow()
	if l != nil && l.push(classOf(cap(b)), b) {
		p.caches.Put(l)
		return
	}
	p.putSlow(l, b)
}

// putSlow is Put without a cache, or with a borrowed one that does not simply take b.
//
//go:noinline
func (p *Bytes) putSlow(l *Local, b []byte) {
	if l == nil {
		l = p.newLocal()
	}
	l.putSlow(b)
	p.giveBack(l)
}

// Local returns a cache in front of p for a goroutine of its own, with what an
// earlier one left in it. Release gives it back.
func (p *Bytes) Local() *Local {
	if checking {
		return p.checkedLocal()
	}
	l := p.borrow()
	if l == nil {
		l = p.newLocal()
	}
	l.given.Store(false)
	return l
}

// Release gives l back to its pool. It must not be used any more. A second Release does
// nothing as long as nobody has got l by another Local; with the tag heaptrimcheck every
// use after the first is reported.
func (l *Local) Release() {
	if checking {
		l.checkedRelease()
		return
	}
	if !l.given.CompareAndSwap(false, true) {
		return
	}
	l.turn()
	if at := &l.depot.spares.released; at.Load() != nil || !at.CompareAndSwap(nil, l) {
		l.depot.options.caches.Put(l)
	}
}

func (p *Bytes) depot() *depot {
	if d := p.shared.Load(); d != nil {
		return d
	}
	p.once.Do(func() { p.shared.Store(newDepot(p)) })
	return p.shared.Load()
}

//go:noinline
func (p *Bytes) newLocal() *Local {
	d := p.depot()
	if l := d.spares.released.Swap(nil); l != nil {
		return l
	}
	if l := d.spares.take(atomic.LoadUint32(&d.seats.cycle)); l != nil {
		runtime.SetFinalizer(l, (*Local).retire)
		return l
	}
	l := &Local{depot: d, room: p.maxBytes() / cacheBudget}
	atomic.StoreUint32(&l.cycle, atomic.LoadUint32(&d.seats.cycle))
	for k := range l.stacks {
		l.stacks[k].size = uint32(d.classes[k].size)
		l.relax(uint(k))
	}
	// The sync.Pool drops a cache that its P did not use during two collections,
	// be it that the goroutine runs on another P now.
	runtime.SetFinalizer(l, (*Local).retire)
	return l
}
