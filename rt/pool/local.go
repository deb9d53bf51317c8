package pool

import (
	"sync/atomic"
	"unsafe"
)

// Local is a cache of buffers in front of a Bytes. It belongs to one goroutine at
// a time – a worker, a request – and spares it what it takes to find out which
// goroutine calls, and the borrowing where that has no cache: no lock, and nothing
// atomic but what a plain load does. Buffers may be put through another Local, or
// through the Bytes itself, than they were got from.
//
// A Local holds at most 60 buffers of a class, and no more than 1/64 of MaxBytes
// (4 MiB), as the need shows: half of that or less if they are only put through it, and
// got elsewhere. Buffers larger than 1/256 of MaxBytes (1 MiB) pass through it. All its
// classes together hold at most a sixth of MaxBytes. It looks through them at its first
// Put after a collection: a class that saw no Get since the last look is handed back to
// the Bytes; one that saw some keeps no more buffers than it saw Gets since the last look
// but one. A Local that lies idle keeps what it holds: Release it when there is nothing
// to do.
//
// Make one with [Bytes.Local].
type Local struct {
	stacks [numClasses]stack
	counts [numClasses]counts
	depot  *depot
	room   int64       // bytes that the stacks may still be deepened by
	cycle  uint32      // of the collector, when the stacks were last looked through; only accessed atomically
	user   uintptr     // goroutine that borrowed it the last time that somebody looked
	looks  int         // that saw it with this one, one after the other
	idle   int         // turns that it lay among the spares
	given  atomic.Bool // back by Release, and nobody's until the next Local
	check  *localCheck
}

// stack holds the free buffers of one class. Only data pointers: the class knows
// the capacity, and slice headers of several Ps would share cache lines.
type stack struct {
	// tally is the number of Gets times oneGet, and the number of buffers in s, of
	// which the top is s[n]: one word, which a Get has to load and store once.
	tally uint64
	depth uint32 // buffers at most
	size  uint32 // of a buffer
	// far is how many of the lowest ones, at most, came from the depot and were not fetched
	// yet. A Get of one of these looks after that, as one from an empty stack looks for
	// more.
	far uint32
	// s[0] is always nil, so that an empty stack needs no test of its own to compare with
	// the top.
	s [stackLen + 1]unsafe.Pointer
	_ [64]byte // an odd number of cache lines, or the first ones of all stacks would share a few sets of the cache
}

const oneGet = 1 << 8 // in a tally; more than stackLen

func (st *stack) n() uint32 { return uint32(st.tally % oneGet) }

func (st *stack) gets() uint64 { return st.tally / oneGet }

// counts are the figures of a stack at two moments.
type counts struct {
	before uint64 // gets at the last turn of the collector
	gets   uint64 // when they were last published
	n      uint32 // when it was last published
	last   uint32 // gets between the last turn and the one before, or stackLen if more
}

// Get is [Bytes.Get].
func (l *Local) Get(n int) []byte {
	if checking {
		return l.checkedGet(n)
	}
	if buf, size := l.pop(classOf(n)); buf != nil {
		return unsafe.Slice((*byte)(buf), size)[:n]
	}
	return l.refill(n)
}

// Put is [Bytes.Put].
func (l *Local) Put(b []byte) {
	if checking {
		l.checkedPut(b)
		return
	}
	if k := classOf(cap(b)); k < numClasses {
		st := &l.stacks[k]
		t := st.tally
		top := t % oneGet
		p := unsafe.Pointer(unsafe.SliceData(b))
		if top < uint64(st.depth) && top < stackLen && cap(b) == int(st.size) && st.s[top] != p {
			if atomic.LoadUint32(&l.depot.seats.cycle) == atomic.LoadUint32(&l.cycle) {
				st.s[top+1] = p
				st.tally = t + 1
				return
			}
		}
	}
	l.putSlow(b)
}

// pop takes a buffer of class k from its stack, if there is one that was fetched. The
// conditions here, in push, and in the Puts are nested so that the compiler has the way
// with all of them true without a jump.
func (l *Local) pop(k uint) (buf unsafe.Pointer, size int) {
	if k < numClasses {
		st := &l.stacks[k]
		t := st.tally
		if top := t % oneGet; top > uint64(st.far) && top <= stackLen {
			if buf := st.s[top]; buf != nil {
				st.s[top] = nil
				st.tally = t + oneGet - 1
				return buf, int(st.size)
			}
		}
	}
	return nil, 0
}

// push is the fast part of Put where a call of it does not count, and reports whether b,
// of class k, could be taken as it is. Now and then it says no, for somebody to look.
func (l *Local) push(k uint, b []byte) bool {
	if k < numClasses {
		st := &l.stacks[k]
		t := st.tally
		top := t % oneGet
		p := unsafe.Pointer(unsafe.SliceData(b))
		if top < uint64(st.depth) && top < stackLen && cap(b) == int(st.size) && st.s[top] != p {
			if atomic.LoadUint32(&l.depot.seats.cycle) == atomic.LoadUint32(&l.cycle) && (!seated || t&lookMask != 0) {
				st.s[top+1] = p
				st.tally = t + 1
				return true
			}
		}
	}
	return false
}
