package pool

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// holders are what the values of a Values lie in, whatever their type. A goroutine that
// keeps using the pool has some in a stash of its own; all others are in two sync.Pools.
type holders struct {
	full   sync.Pool // of unsafe.Pointer to holder, with a value
	empty  sync.Pool // of the same without
	once   sync.Once
	shared atomic.Pointer[rows]
	seats  atomic.Pointer[rows] // shared, if a seat is taken
}

// holder is the head of what a value lies in.
type holder struct {
	user  uintptr // goroutine that put the value the last time that somebody looked
	looks uint16  // that saw it with this one, one after the other
	puts  uint16
	_     uint32
}

// stash is a stack of holders that belongs to one goroutine.
type stash struct {
	cycle uint32 // of the collector, when a Put last looked; only accessed atomically
	n     uint32 // holders with a value: h[:n]; those above are without, or not there
	h     [stashLen]*holder
	drift uint32   // Puts that had to look elsewhere for a holder, and no Get for a value
	_     [52]byte // to whole cache lines
}

const (
	stashLen = 16

	// A Put looks who it is when these bits of the number of a holder's Puts are 0.
	holderLookMask = 7

	// maxDrift is how much of a drift is left alone: a goroutine that puts what others get
	// has no use for a stash.
	maxDrift = 64
)

// x is where the value in h lies: behind it, see holderOf.
func (h *holder) x() unsafe.Pointer { return unsafe.Add(unsafe.Pointer(h), unsafe.Sizeof(*h)) }

// takeFull returns a place with a value, which the caller has to take out before it does
// anything else. If the holder is borrowed, it then has to be given back.
func takeFull(p *holders, m maker) (x unsafe.Pointer, borrowed *holder) {
	if r := p.seats.Load(); seated && r != nil {
		if s, ok := r.list.of(goroutine()); ok {
			if i := s.n - 1; i < stashLen {
				s.n = i
				return s.h[i].x(), nil
			}
			return p.ownFull(s, m).x(), nil
		}
	}
	h := taken(&p.full, m)
	return h.x(), h
}

// ownFull is takeFull for the owner of s, which has no values.
//
//go:noinline
func (p *holders) ownFull(s *stash, m maker) *holder {
	h := (*holder)(fromPool(&p.full))
	if h == nil {
		return (*holder)(m.make()) // by the user's code, which may use this pool
	}
	if s.h[0] != nil {
		backEmpty(p, s.h[0])
	}
	s.h[0] = h
	s.drift = 0
	return h
}

// takeEmpty returns a place for a value, which the caller has to fill before it does
// anything else. If the holder is borrowed, it then has to be given back.
func takeEmpty(p *holders, m maker) (x unsafe.Pointer, borrowed *holder) {
	if r := p.seats.Load(); seated && r != nil {
		if s, ok := r.list.of(goroutine()); ok {
			if i := s.n; i < stashLen && atomic.LoadUint32(&r.cycle) == atomic.LoadUint32(&s.cycle) {
				if h := s.h[i]; h != nil {
					s.n = i + 1
					return h.x(), nil
				}
			}
			return p.ownEmpty(r, s, m)
		}
	}
	h := taken(&p.empty, m)
	if h.puts++; seated && h.puts&holderLookMask == 0 && p.sits(h) {
		return h.x(), nil
	}
	return h.x(), h
}

// ownEmpty is takeEmpty for the owner of s, which has no such holder ready or is to be
// looked at.
//
//go:noinline
func (p *holders) ownEmpty(r *rows, s *stash, m maker) (x unsafe.Pointer, borrowed *holder) {
	if cycle := atomic.LoadUint32(&r.cycle); cycle != atomic.LoadUint32(&s.cycle) {
		// What nobody asks for has to get where the collector drops it.
		atomic.StoreUint32(&s.cycle, cycle)
		p.clear(s)
	}
	if s.n == stashLen {
		p.spill(s, stashLen/2)
	}
	if s.h[s.n] == nil {
		h := taken(&p.empty, m)
		if s.drift++; s.drift > maxDrift {
			r.leave(s, goroutine())
			p.clear(s)
			return h.x(), h
		}
		s.h[s.n] = h
	}
	s.n++
	return s.h[s.n-1].x(), nil
}

// clear gives all that is in s to all.
func (p *holders) clear(s *stash) {
	p.spill(s, 0)
	for i, h := range s.h {
		if h != nil {
			backEmpty(p, h)
			s.h[i] = nil
		}
	}
	s.drift = 0
}

// spill gives the values of s to all, but for the n that were put first.
func (p *holders) spill(s *stash, n uint32) {
	for i := n; i < s.n; i++ {
		backFull(p, s.h[i])
		s.h[i] = nil
	}
	s.n = n
}

// sits makes h, which is to be filled, the first in a stash of the running goroutine if
// this is the one that has been using it for long enough, and reports whether it is.
//
//go:noinline
func (p *holders) sits(h *holder) bool {
	if checking {
		return false // the race detector does not know that nobody else uses a stash
	}
	g := goroutine()
	if h.user != g {
		h.user, h.looks = g, 0
	}
	p.once.Do(func() { p.shared.Store(newRows(p)) })
	r := p.shared.Load()
	if h.looks++; h.looks < r.looks {
		return false
	}
	h.looks = 0
	return r.settle(h, g)
}

func backEmpty(p *holders, h *holder) { p.empty.Put(unsafe.Pointer(h)) }

func backFull(p *holders, h *holder) { p.full.Put(unsafe.Pointer(h)) }

// taken returns what lies in p, or what m makes.
func taken(p *sync.Pool, m maker) *holder { return (*holder)(takenOr(p, m, fromPool, missed)) }

func takenOr(p *sync.Pool, m maker, get func(*sync.Pool) unsafe.Pointer, missed func(maker) unsafe.Pointer) unsafe.Pointer {
	if x := get(p); x != nil {
		return x
	}
	return missed(m)
}
