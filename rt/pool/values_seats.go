package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// rows are the seats of a Values: what seats are of a Bytes, with the same rules. A stash
// is made for its owner, and never gets another. When it lost its seat, the collector
// drops it with what is in it.
type rows struct {
	_     [8]byte // with the word that the allocator puts in front, a seat's
	list  seatList[stash]
	cycle uint32 // collections so far; only accessed atomically
	looks uint16 // looksToSit; less in tests

	mu      sync.Mutex // of all changes of list
	limit   int        // stashes at most
	taken   int
	full    atomic.Bool // taken is the limit
	left    uintptr     // goroutine that had no use for its stash, since the last collection
	holders *holders    // whose these are
}

func newRows(p *holders) *rows {
	r := &rows{looks: looksToSit, holders: p}
	r.open()
	r.watch()
	return r
}

// open sets how many may sit.
func (r *rows) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = mostSeated()
	r.full.Store(r.taken >= r.limit)
}

// settle makes a stash of goroutine g, the caller, with a value in h to be, and reports
// whether there is a seat.
func (r *rows) settle(h *holder, g uintptr) bool {
	seat := r.list.at(g)
	if seat.cache.Load() != nil || r.full.Load() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if seat.cache.Load() != nil || r.taken >= r.limit || r.left == g {
		return false
	}
	s := &stash{cycle: atomic.LoadUint32(&r.cycle), n: 1}
	s.h[0] = h
	seat.take(s, g)
	r.taken++
	r.full.Store(r.taken >= r.limit)
	r.holders.seats.Store(r)
	return true
}

// leave takes the seat of s, whose owner g calls it and must not use it any more.
func (r *rows) leave(s *stash, g uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = g
	if seat := r.list.at(g); seat.cache.Load() == s {
		seat.leave()
		r.taken--
	}
	r.count()
}

// count has others know how many seats are taken. The caller holds the lock.
func (r *rows) count() {
	r.full.Store(r.taken >= r.limit)
	if r.taken == 0 {
		r.holders.seats.Store(nil)
	}
}

// watch has turn called after every collection, for as long as r is in use.
func (r *rows) watch() {
	runtime.AddCleanup(new(marker), turnRows, weak.Make(r))
}

func turnRows(w weak.Pointer[rows]) {
	if r := w.Value(); r != nil {
		r.turn()
		r.watch()
	}
}

// turn takes the seats of those that did not put anything during two cycles. It leaves
// the stashes as they are, for their owners may be using them.
func (r *rows) turn() {
	cycle := atomic.AddUint32(&r.cycle, 1)
	r.open()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left = 0
	if r.taken == 0 {
		return
	}
	for i := range r.list {
		if s := r.list[i].cache.Load(); s != nil && cycle-atomic.LoadUint32(&s.cycle) >= 2 {
			r.list[i].leave()
			r.taken--
		}
	}
	r.count()
}
