package pool

import "unsafe"

// Local is a cache of buffers in front of a Bytes. It belongs to one goroutine at
// a time – a worker, a request – and is the fastest way to Get and Put: no atomic
// operation, no lock. Buffers may be put through another Local, or through the
// Bytes itself, than they were got from.
//
// A Local holds at most 60 buffers of a class, fewer if they make more than 1/256 of
// MaxBytes (1 MiB), but at least four; larger buffers than that pass through it. All
// classes full make a sixth of MaxBytes. A class that saw no Get between two
// collections is handed back to the Bytes at the next Put. A Local that lies idle
// keeps what it holds: Release it when there is nothing to do.
//
// Make one with [Bytes.Local].
type Local struct {
	stacks [numClasses]stack
	counts [numClasses]counts
	depot  *depot
	cycle  uint32 // of the collector, when the stacks were last looked through
	idle   int    // turns that it lay among the spares
	check  *localCheck
}

// stack holds the free buffers of one class. Only data pointers: the class knows
// the capacity, and slice headers of several Ps would share cache lines.
type stack struct {
	n     uint32 // buffers in s; the top is s[n]
	depth uint32 // at most
	size  uint32 // of a buffer
	gets  uint64
	// s[0] is always nil, so that an empty stack needs no test of its own, neither
	// to pop nor to compare with the top.
	s [stackLen + 1]unsafe.Pointer
}

// counts are the figures of a stack at two moments.
type counts struct {
	before uint64 // gets at the last turn of the collector
	gets   uint64 // when they were last published
	n      uint32 // when it was last published
}

// Get is [Bytes.Get].
func (l *Local) Get(n int) []byte {
	if checking {
		return l.checkedGet(n)
	}
	k := classOf(n)
	p, size := l.pop(k)
	if p == nil {
		return l.refill(n, k)
	}
	return unsafe.Slice((*byte)(p), size)[:n]
}

// pop returns a buffer of class k and its size, or nil.
func (l *Local) pop(k uint) (p unsafe.Pointer, size int) {
	if k >= numClasses {
		return nil, 0
	}
	st := &l.stacks[k]
	top := st.n
	if top > stackLen {
		panic("pool: a Local is corrupt: is it used by two goroutines at once?")
	}
	p = st.s[top]
	if p != nil {
		st.s[top] = nil
		st.n = top - 1
		st.gets++
	}
	return p, int(st.size)
}

// Put is [Bytes.Put].
func (l *Local) Put(b []byte) {
	if checking {
		l.checkedPut(b)
		return
	}
	k := classOf(cap(b))
	if k >= numClasses || !l.push(k, unsafe.Pointer(unsafe.SliceData(b)), cap(b)) {
		l.putSlow(b)
	}
}

// push takes a buffer of size bytes, which belong into class k. It reports whether
// that was all there is to do.
func (l *Local) push(k uint, p unsafe.Pointer, size int) bool {
	st := &l.stacks[k]
	top := st.n
	if top >= st.depth || size != int(st.size) || st.s[top] == p || l.cycle != l.depot.cycle.Load() {
		return false
	}
	st.s[top+1] = p
	st.n = top + 1
	return true
}
