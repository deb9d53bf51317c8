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
	if k >= numClasses {
		return l.depot.large(n)
	}
	st := &l.stacks[k]
	top := st.n
	if top > stackLen {
		panic("pool: a Local is corrupt: is it used by two goroutines at once?")
	}
	p := st.s[top]
	if p == nil {
		return l.refill(n, k)
	}
	st.s[top] = nil
	st.n = top - 1
	st.gets++
	return unsafe.Slice((*byte)(p), int(st.size))[:n]
}

// Put is [Bytes.Put].
func (l *Local) Put(b []byte) {
	if checking {
		l.checkedPut(b)
		return
	}
	k := classOf(cap(b))
	if k >= numClasses || l.cycle != l.depot.cycle.Load() {
		l.putSlow(b)
		return
	}
	st := &l.stacks[k]
	p := unsafe.Pointer(unsafe.SliceData(b))
	top := st.n
	if top >= st.depth || cap(b) != int(st.size) || st.s[top] == p {
		l.putSlow(b)
		return
	}
	st.s[top+1] = p
	st.n = top + 1
}
