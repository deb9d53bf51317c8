package pool

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// A goroutine that keeps using a Bytes gets one of its caches to itself, which it then
// need not borrow and give back for every call. It is told from others by where its
// stack is: a block of 2 KiB, the least that a stack has, is part of the stack of one
// goroutine at a time, and whoever has that stack next comes after it. So nothing has
// to be locked, nor is anything atomic but what a plain load and store do.
//
// What this rests on: that the stack stays where it is between the look at the owner of
// a cache and the last access to it. The runtime moves a stack where a function begins,
// or where one waits, but not elsewhere, for it does not know there what on the stack is
// a pointer. Therefore Get and Put do this in one go, in functions that do not look for
// room on the stack (go:nosplit), and call nothing that does. A cache that somebody
// has for longer belongs to no block meanwhile. The constant seated holds for the
// toolchains of which all this is known.
//
// A cache stays at its seat until two collections passed without a Put. Only its owner
// may take anything out of it; when it lost its seat, and nobody has it any more, the
// collector hands it to retire.
type seats struct {
	looks int          // looksToSit; less in tests
	limit atomic.Int32 // caches at most
	taken atomic.Int32
	list  [numSeats]atomic.Pointer[Local]
}

const (
	numSeats = 1 << seatBits
	seatBits = 7

	blockShift = 11 // of the least stack, 2 KiB

	// seatsPerP is how many goroutines have a cache of their own for each P; more than
	// one, as those that wait have theirs as well.
	seatsPerP = 4
	minSeated = 8

	// A Put looks whether it is the same goroutine as the last time that uses a cache when
	// these bits of the tally are 0: once in 32 Gets, and in 8 Puts without a Get.
	lookMask = 31*oneGet | 7

	// looksToSit is how often it has to be the same one: so often that who comes, fills
	// some dozens of buffers, and goes does not take a cache along that others need.
	looksToSit = 64
)

// place returns the number of the block of memory that here lies in, which is on the
// stack of the caller.
//
//go:nosplit
func place(here *byte) uintptr { return uintptr(unsafe.Pointer(here)) >> blockShift }

// seat returns where the cache is that belongs to a block. Blocks that share a seat
// have no cache at the same time.
//
//go:nosplit
func (s *seats) seat(block uintptr) *atomic.Pointer[Local] {
	return &s.list[uint32(block)*0x9e3779b1>>(32-seatBits)]
}

// open sets how many may sit.
func (s *seats) open() {
	if seated {
		s.limit.Store(int32(min(numSeats/2, max(minSeated, seatsPerP*runtime.GOMAXPROCS(0)))))
	}
}

// settle gives l, which the caller has and must not use any more, to the goroutine whose
// stack the block is, and reports whether there is a seat. That stack may be
// another's by now: then it is that one's.
func (s *seats) settle(l *Local, block uintptr) bool {
	seat := s.seat(block)
	if seat.Load() != l && !s.claim(seat, l) {
		return false
	}
	atomic.StoreUintptr(&l.owner, block)
	return true
}

func (s *seats) claim(seat *atomic.Pointer[Local], l *Local) bool {
	if seat.Load() != nil || s.taken.Load() >= s.limit.Load() || !seat.CompareAndSwap(nil, l) {
		return false
	}
	s.taken.Add(1)
	return true
}

// vacate takes the seat from l if it has that one.
func (s *seats) vacate(seat *atomic.Pointer[Local], l *Local) {
	if seat.CompareAndSwap(l, nil) {
		s.taken.Add(-1)
	}
}

// turn is called after each collection. It leaves the caches as they are, for their
// owners may be using them.
func (s *seats) turn(cycle uint32) {
	s.open()
	for i := range s.list {
		if l := s.list[i].Load(); l != nil && cycle-atomic.LoadUint32(&l.cycle) >= 2 {
			s.vacate(&s.list[i], l)
		}
	}
}

// seatedLocal returns the cache of the goroutine on whose stack here is, or nil. It may
// be used for as long as the stack does not move.
//
//go:nosplit
func (p *Bytes) seatedLocal(here *byte) *Local {
	d := p.shared.Load()
	if !seated || d == nil {
		return nil
	}
	l := d.seats.seat(place(here)).Load()
	if l != nil && atomic.LoadUintptr(&l.owner) != place(here) {
		l = nil
	}
	return l
}

// rise returns the cache of the goroutine, or nil, which then belongs to the caller.
//
//go:nosplit
//go:noinline
func (p *Bytes) rise() (l *Local, from uintptr) {
	var here byte
	if l = p.seatedLocal(&here); l != nil {
		atomic.StoreUintptr(&l.owner, 0)
	}
	return l, place(&here)
}

// giveBack takes l from the caller: for the goroutine of the block, if that owned it, or
// has been the one that borrowed it for long enough; otherwise for all.
func (p *Bytes) giveBack(l *Local, own bool, block uintptr) {
	if !own {
		if l.user != block {
			l.user, l.looks = block, 0
		}
		l.looks++
		own = seated && l.looks >= l.depot.seats.looks
	}
	if !own || !l.depot.seats.settle(l, block) {
		p.caches.Put(l)
	}
}
