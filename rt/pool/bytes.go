package pool

import (
	"cmp"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Bytes is a pool of byte slices of all sizes. The zero value is ready to use. It
// must not be copied, nor its fields changed, after the first use. All methods may
// be called by any number of goroutines at once.
type Bytes struct {
	// MaxBytes bounds the free bytes that the pool keeps in its reserve. Free buffers
	// beyond it are where a sync.Pool has them. 0 means 64 MiB.
	MaxBytes int64
	// MaxSize is the largest capacity that is pooled: requests of a class beyond
	// come from the heap and go back to it. 0, and everything above, means 32 MiB.
	MaxSize int
	// Report is called for every misuse that the checking mode finds, perhaps by
	// several goroutines at once. If it is nil, a [Leak] is written to standard
	// error, and everything else panics with the [*Misuse].
	Report func(*Misuse)

	shared atomic.Pointer[depot]
	checks checks

	classes [numClasses]class
}

// class is the free buffers of one size. Its fields are hardly ever written.
type class struct {
	free sync.Pool // of *byte: the class knows the capacity, and slice headers would share cache lines
	// size is the size of a buffer, or 0 for Get and Put to take the slow way: before
	// the first use, beyond MaxSize, and while the reserve comes first.
	size atomic.Int32
	_    [20]byte // to a whole cache line
}

// pooled reports whether buffers of class k are pooled.
func (p *Bytes) pooled(k uint) bool {
	return k < numClasses && (p.MaxSize <= 0 || classSize(k) <= p.MaxSize)
}

// Get returns a slice of n bytes. Its capacity is that of its class, at most a
// quarter larger than n or 64; its content is anything, also what its last user
// wrote. Get(0) returns an empty slice that has capacity. Get panics if n is
// negative.
//
// The slice is the caller's until Put, which may be never: then the collector
// frees it like any other.
func (p *Bytes) Get(n int) []byte {
	if checking {
		return p.checkedGet(n)
	}
	if k := classOf(n); k < numClasses {
		c := &p.classes[k]
		if size := c.size.Load(); size != 0 {
			if x := c.free.Get(); x != nil {
				return (*[maxSize]byte)(unsafe.Pointer(x.(*byte)))[:n:size]
			}
		}
	}
	return p.getSlow(n)
}

// GetZeroed is Get, and all bytes up to the capacity are zero.
func (p *Bytes) GetZeroed(n int) []byte {
	b := p.Get(n)
	clear(b[:cap(b)])
	return b
}

// Put gives b back; its owner must not use it any more, nor any slice of the same
// memory. It takes what Get returned, resliced to any length, as long as the
// capacity is the same; other slices are dropped, and counted, unless their
// capacity is that of a class. Put of nil does nothing.
//
// A second Put of the same buffer has it handed out twice; the checking mode finds
// that.
func (p *Bytes) Put(b []byte) {
	if checking {
		p.checkedPut(b)
		return
	}
	if k := classIs(cap(b)); k < numClasses {
		c := &p.classes[k]
		if int(c.size.Load()) == cap(b) {
			c.free.Put(unsafe.SliceData(b))
			return
		}
	}
	p.putSlow(b)
}

func (p *Bytes) depot() *depot {
	if d := p.shared.Load(); d != nil {
		return d
	}
	d := &depot{pool: p, most: cmp.Or(max(0, p.MaxBytes), 64<<20)}
	if p.shared.CompareAndSwap(nil, d) {
		d.watch()
	}
	return p.shared.Load()
}

// getSlow is Get of a class that has nothing free, has the reserve come first, or is
// not pooled.
//
//go:noinline
func (p *Bytes) getSlow(n int) []byte {
	if n < 0 {
		panic("pool: Get of a negative size")
	}
	if k := classOf(n); p.pooled(k) {
		var x [1]unsafe.Pointer
		if p.depot().take(k, x[:]) == 1 {
			return memory(x[0], classSize(k))[:n]
		}
		if x := p.classes[k].free.Get(); x != nil {
			return unsafe.Slice(x.(*byte), classSize(k))[:n]
		}
	}
	return p.make(n)
}

// make returns a new buffer.
func (p *Bytes) make(n int) []byte {
	d, k := p.depot(), classOf(n)
	if p.pooled(k) {
		d.miss(k)
		return make([]byte, n, classSize(k))
	}
	d.oversize.Add(1)
	return make([]byte, n)
}

// putSlow is Put to a class that has the reserve come first, and of everything that is
// not pooled.
//
//go:noinline
func (p *Bytes) putSlow(b []byte) {
	switch d, k := p.depot(), classOf(cap(b)); {
	case cap(b) == 0:
	case k >= numClasses || classSize(k) != cap(b):
		d.foreign.Add(1)
	case p.pooled(k):
		d.give(k, []unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(b))})
	}
}
