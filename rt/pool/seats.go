package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A goroutine that keeps using a Bytes gets one of its caches to itself, which it then
// need not borrow and give back for every call: no lock, and nothing atomic but what a
// plain load does. It is told from others by the address of its g, what the runtime knows
// it by. That is never given back to the heap, and is another goroutine's only after
// this one has ended: whoever has it next comes after it, and takes over the cache.
//
// A seat names the owner of the cache that is there, until before the cache leaves. Only
// who finds itself named may use it: others cannot be, nor become the owner meanwhile. So
// it stays where it is while it is used, and nobody has to know that it is.
//
// A cache stays at its seat until two collections passed without a Put. Only its owner
// may take anything out of it; when it lost its seat, and nobody has it any more, the
// collector hands it to retire.
type seats struct {
	list  seatList[Local]
	cycle uint32 // collections so far; only accessed atomically; here, where every Put looks at it
	looks int    // looksToSit; less in tests

	mu    sync.Mutex // of all changes of list
	limit int        // caches at most
	taken int
	full  atomic.Bool // taken is the limit
}

// seatList is where caches are that have owners.
type seatList[C any] [numSeats]seat[C]

type seat[C any] struct {
	cache atomic.Pointer[C]
	owner uintptr // of the cache
}

const (
	numSeats = 1 << seatBits
	seatBits = 9

	// The least bits of the address of a g that differ from one to the next.
	goroutineShift = 5

	// A g times this has bits of its own in the upper ones.
	goroutineSpread = 0x9e3779b1

	// seatsPerP is how many goroutines have a cache of their own for each P; more than
	// one, as those that wait have theirs as well.
	seatsPerP = 4
	minSeated = 8

	// A Put looks whether it is the same goroutine as the last time that uses a cache when
	// these bits of the tally are 0: once in 64 Gets, and in 8 Puts without a Get.
	lookMask = 63*oneGet | 7

	// looksToSit is how often it has to be the same one: so often that who comes, fills
	// some dozens of buffers, and goes does not take a cache along that others need. A Get
	// that has to look for more is a look, too.
	looksToSit = 40
)

// at returns where the cache of a goroutine is. Goroutines that share a seat have no
// cache at the same time.
func (s *seatList[C]) at(g uintptr) *seat[C] {
	return &s[uint32(g>>goroutineShift)*goroutineSpread>>(32-seatBits)]
}

// of returns the cache of goroutine g, and whether it has one.
func (s *seatList[C]) of(g uintptr) (c *C, ok bool) {
	seat := s.at(g)
	c = seat.cache.Load()     // first: after the owner was read, another's cache may get here
	return c, seat.owner == g // as atomic as a word is, and the load before keeps it behind
}

// take puts c at the free seat of goroutine g.
func (s *seat[C]) take(c *C, g uintptr) {
	atomic.StoreUintptr(&s.owner, g)
	s.cache.Store(c)
}

// leave takes away what is at the seat.
func (s *seat[C]) leave() {
	atomic.StoreUintptr(&s.owner, 0) // first: who still finds itself named has found the cache
	s.cache.Store(nil)
}

// mostSeated returns how many goroutines have a cache of their own at most.
func mostSeated() int { return min(numSeats/4, max(minSeated, seatsPerP*runtime.GOMAXPROCS(0))) }

// open sets how many may sit.
func (s *seats) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if seated {
		s.limit = mostSeated()
	}
	s.full.Store(s.taken >= s.limit)
}

// settle gives l, which the caller has and must not use any more, to goroutine g, and
// reports whether there is a seat.
func (s *seats) settle(l *Local, g uintptr) bool {
	seat := s.list.at(g)
	if seat.cache.Load() != nil || s.full.Load() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if seat.cache.Load() != nil || s.taken >= s.limit {
		return false
	}
	seat.take(l, g)
	s.taken++
	s.full.Store(s.taken >= s.limit)
	l.depot.options.seats.Store(s)
	return true
}

// turn is called after each collection. It leaves the caches as they are, for their
// owners may be using them.
func (s *seats) turn(p *Bytes, cycle uint32) {
	s.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.list {
		l := s.list[i].cache.Load()
		if l == nil {
			continue
		}
		if cycle-atomic.LoadUint32(&l.cycle) >= 2 {
			s.list[i].leave()
			s.taken--
		}
	}
	s.full.Store(s.taken >= s.limit)
	if s.taken == 0 {
		p.seats.Store(nil)
	}
}

// giveBack takes l from the caller, who borrowed it: for the running goroutine, if that
// has been the one for long enough; otherwise for all.
func (p *Bytes) giveBack(l *Local) {
	s, g := &l.depot.seats, goroutine()
	if l.user != g {
		l.user, l.looks = g, 0
	}
	l.looks++
	if !seated || l.looks < s.looks || !s.settle(l, g) {
		p.caches.Put(l)
	}
}
