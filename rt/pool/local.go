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
// Its classes are the powers of two up to 1 MiB, where the pool has four for each doubling.
// That is faster, but a buffer has less than twice the bytes asked for, or 64: a third more
// on the mean over all sizes. Larger buffers pass through it, and so do Puts of buffers that
// the pool's other classes have.
//
// A Local holds at most 32 buffers of a class, and of those above 64 KiB no more than
// make 2 MiB, or 8. At its first use after a collection it keeps no more buffers of a class
// than were got since the collection before. The collector frees what a Local holds if that
// is not used between two.
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
type cache [localClasses]stack

// stack holds the free buffers of one class.
type stack struct {
	// tally is the number of Gets times oneGet, and the index of the top: one word, which
	// a Get loads and stores once. The stack is full where the top is stackLen.
	tally uint64
	s     [1 + stackLen]unsafe.Pointer // nil at the bottom; those above the top are stale
	depth int                          // buffers at most; half as many change hands at once
	gets  uint64                       // at the last look after a collection
	_     [32]byte                     // an odd number of cache lines, lest stacks share sets of the cache
}

const oneGet = 1 << 8 // in a tally; more than stackLen

// items returns the free buffers, the top one last.
func (st *stack) items() []unsafe.Pointer {
	return st.s[1+stackLen-st.depth : st.tally%oneGet+1]
}

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

// Get is [Bytes.Get], but for the capacity.
func (l *Local) Get(n int) []byte {
	if checking {
		return l.checkedGet(n)
	}
	if c := l.cell.active.Load(); c != nil {
		if k := localClass(n); k < localClasses {
			st := &c[k]
			t := st.tally
			if top := t % oneGet; top <= stackLen {
				if x := st.s[top]; x != nil {
					st.tally = t + oneGet - 1
					return (*[maxSize]byte)(x)[: n : 1<<k]
				}
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
		if k := localClassIs(cap(b)); k < localClasses && cap(b) == 1<<k {
			st := &c[k]
			t := st.tally
			if top := t % oneGet; top < stackLen {
				st.s[top+1] = unsafe.Pointer(unsafe.SliceData(b))
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
			st := &c[k]
			if size := 1 << k; l.pool.pooled(classOf(size)) && size >= minSize {
				st.depth = stackDepth(size)
			}
			st.tally = uint64(stackLen - st.depth)
		}
		l.cell.last = weak.Make(c)
	}
	for k := range c {
		st := &c[k]
		gets := st.tally / oneGet
		if n, keep := len(st.items()), int(min(gets-st.gets, stackLen)); n > keep {
			l.spill(c, uint(k), n-keep)
		}
		clear(st.s[st.tally%oneGet+1:])
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
	items := st.items()
	rest := len(items) - n
	if st.depth < stackLen {
		l.pool.depot().give(classOf(1<<k), items[:n])
		copy(items, items[n:])
	} else {
		l.pool.depot().give(classOf(1<<k), items[rest:])
	}
	clear(items[rest:])
	st.tally -= uint64(n)
}

// refill is Get from an empty stack, after a collection, and of what is not pooled.
//
//go:noinline
func (l *Local) refill(n int) []byte {
	if n == 0 {
		return l.Get(1)[:0]
	}
	c, k := l.cache(), localClass(n)
	if k >= localClasses || c[k].depth == 0 {
		return l.pool.Get(n)
	}
	st := &c[k]
	if len(st.items()) == 0 {
		bottom := 1 + stackLen - st.depth
		st.tally += uint64(l.pool.depot().take(classOf(1<<k), st.s[bottom:][:st.depth/2]))
	}
	st.tally += oneGet
	items := st.items()
	if len(items) == 0 {
		return l.pool.Get(1 << k)[:n]
	}
	st.tally--
	return memory(items[len(items)-1], 1<<k)[:n]
}

// putSlow is Put to a full stack, after a collection, and of what is not pooled.
//
//go:noinline
func (l *Local) putSlow(b []byte) {
	c, k := l.cache(), localClassIs(cap(b))
	if k >= localClasses || c[k].depth == 0 || cap(b) != 1<<k {
		l.pool.Put(b)
		return
	}
	st := &c[k]
	if len(st.items()) == st.depth {
		l.spill(c, k, st.depth/2)
	}
	st.tally++
	st.s[st.tally%oneGet] = unsafe.Pointer(unsafe.SliceData(b))
}
