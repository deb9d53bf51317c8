package pool

import (
	"slices"
	"sync/atomic"
	"unsafe"
	"weak"
)

// Local is a cache of buffers in front of a Bytes. It belongs to one goroutine at
// a time – a worker, a request – and needs no lock and no atomic operation but a
// load. Buffers may be put through another Local, or through the Bytes itself, than
// they were got from.
//
// A Local holds at most 32 buffers of a class, and of those above 64 KiB no more than
// make 2 MiB, or 8. Buffers larger than 1 MiB pass through it. At its first use after a
// collection it keeps no more buffers of a class than were got since the collection
// before. The collector frees what a Local holds if that is not used between two.
type Local struct {
	cell  *cell
	pool  *Bytes
	check *localCheck
}

// cell is where a Local has its cache. The cache itself is only ever touched by the
// owner of the Local. After each collection the pool clears active. The owner's next call
// gets the cache back, or a new one if the collector came first.
type cell struct {
	active atomic.Pointer[cache]
	last   weak.Pointer[cache] // what active was; only the owner's
}

// released is the cell of all Locals that were released.
var released cell

// cache holds the free buffers of a Local.
type cache [numClasses]stack

// stack holds the free buffers of one class.
type stack struct {
	// tally is the number of Gets times oneGet, and the number of buffers: one word,
	// which a Get loads and stores once.
	tally uint64
	size  int                      // of a buffer
	depth uint64                   // buffers at most; half as many change hands at once
	s     [stackLen]unsafe.Pointer // those above the top are stale
	gets  uint64                   // at the last look after a collection
	_     [32]byte                 // an odd number of cache lines, lest stacks share sets of the cache
}

const oneGet = 1 << 8 // in a tally; more than stackLen

func (st *stack) n() int { return int(st.tally % oneGet) }

// Local returns a cache in front of p for a goroutine of its own, with what an
// earlier one left in it. Release gives it back.
func (p *Bytes) Local() *Local {
	if checking {
		return &Local{pool: p, check: new(localCheck)}
	}
	return &Local{cell: p.lend(), pool: p} // inlined, for it to be on the caller's stack
}

//go:noinline
func (p *Bytes) lend() *cell {
	d := p.depot()
	d.mu.Lock()
	defer d.mu.Unlock()
	if last := len(d.spare) - 1; last >= 0 {
		c := d.spare[last]
		d.spare = slices.Delete(d.spare, last, last+1)
		return c
	}
	c := new(cell)
	d.cells = append(d.cells, weak.Make(c))
	return c
}

// Release gives l back to its pool. A second Release does nothing; any other use of l
// panics.
func (l *Local) Release() {
	if checking {
		l.checkedRelease()
		return
	}
	if c := l.cell; c != &released {
		l.cell = &released
		d := l.pool.depot()
		d.mu.Lock()
		defer d.mu.Unlock()
		d.spare = append(d.spare, c)
	}
}

// Get is [Bytes.Get].
func (l *Local) Get(n int) []byte {
	if checking {
		return l.checkedGet(n)
	}
	if c := l.cell.active.Load(); c != nil {
		if k := classOf(n); k < numClasses {
			st := &c[k]
			t := st.tally
			if top := t%oneGet - 1; top < stackLen {
				st.tally = t + oneGet - 1
				return (*[maxSize]byte)(st.s[top])[:n:st.size]
			}
		}
	}
	return l.refill(n)
}

// GetZeroed is [Bytes.GetZeroed].
func (l *Local) GetZeroed(n int) []byte {
	b := l.Get(n)
	clear(b[:cap(b)])
	return b
}

// Put is [Bytes.Put].
func (l *Local) Put(b []byte) {
	if checking {
		l.checkedPut(b)
		return
	}
	if c := l.cell.active.Load(); c != nil {
		if k := classIs(cap(b)); k < numClasses {
			st := &c[k]
			t := st.tally
			if top := t % oneGet; top < st.depth && top < stackLen && cap(b) == st.size {
				st.s[top] = unsafe.Pointer(unsafe.SliceData(b))
				st.tally = t + 1
				return
			}
		}
	}
	l.putSlow(b)
}

// cache returns the cache of l, after a collection as well.
func (l *Local) cache() *cache {
	if c := l.cell.active.Load(); c != nil {
		return c
	}
	if l.cell == &released {
		panic("pool: Local used after Release")
	}
	c := l.cell.last.Value()
	if c == nil {
		c = new(cache)
		for k := range c {
			if l.pool.pooled(uint(k)) {
				size := classSize(uint(k))
				c[k].size, c[k].depth = size, uint64(stackDepth(size))
			}
		}
		l.cell.last = weak.Make(c)
	}
	for k := range c {
		st := &c[k]
		gets := st.tally / oneGet
		if keep := int(min(gets-st.gets, stackLen)); st.n() > keep {
			l.spill(c, uint(k), st.n()-keep)
		}
		clear(st.s[st.n():])
		st.gets = gets
	}
	l.pool.depot().grace.Put(c)
	l.cell.active.Store(c)
	return c
}

// spill gives n buffers of class k to the pool: the uppermost, which are still in the
// processor's cache for who takes them; of large ones, of which that holds few, the
// lowermost, so that the owner gets what it put last.
func (l *Local) spill(c *cache, k uint, n int) {
	st := &c[k]
	low, top := 0, st.n()
	if st.depth == stackLen {
		low = top - n
	}
	l.pool.depot().give(k, st.s[low:low+n])
	copy(st.s[low:top], st.s[low+n:top])
	clear(st.s[top-n : top])
	st.tally -= uint64(n)
}

// refill is Get from an empty stack, after a collection, and of what is not pooled.
//
//go:noinline
func (l *Local) refill(n int) []byte {
	c, k := l.cache(), classOf(n)
	if k >= numClasses || c[k].depth == 0 {
		return l.pool.Get(n)
	}
	st := &c[k]
	if st.n() == 0 {
		st.tally += uint64(l.pool.depot().take(k, st.s[:st.depth/2]))
	}
	st.tally += oneGet
	if st.n() == 0 {
		return l.pool.Get(n)
	}
	st.tally--
	return unsafe.Slice((*byte)(st.s[st.n()]), st.size)[:n]
}

// putSlow is Put to a full stack, after a collection, and of what is not pooled.
//
//go:noinline
func (l *Local) putSlow(b []byte) {
	c, k := l.cache(), classOf(cap(b))
	if k >= numClasses || c[k].depth == 0 || cap(b) != c[k].size {
		l.pool.Put(b)
		return
	}
	st := &c[k]
	if st.n() == int(st.depth) {
		l.spill(c, k, int(st.depth)/2)
	}
	st.s[st.n()] = unsafe.Pointer(unsafe.SliceData(b))
	st.tally++
}
