package pool

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spareTurns is how many cycles a cache waits for an owner.
const spareTurns = 8

// spares are caches that lost their P, with what is in them: a goroutine that moves
// to another P and back would otherwise have to make everything again. Only while
// the pool is in use, and only what is in use.
type spares struct {
	// released is a Local that waits for whoever wants one next. A sync.Pool would not
	// let go of the only one that was put into it on another P.
	released atomic.Pointer[Local]

	mu     sync.Mutex
	list   []*Local
	active bool // some class is in use
}

// take returns a cache, for use from the given cycle on, or nil.
func (s *spares) take(cycle uint32) *Local {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.list) - 1
	if last < 0 {
		return nil
	}
	l := s.list[last]
	s.list[last] = nil
	s.list = s.list[:last]
	l.idle = 0
	atomic.StoreUint32(&l.cycle, cycle)
	for k := range l.stacks {
		// Else all would be handed back at the next turn, and not only what is not used until then.
		l.stacks[k].tally += oneGet
		l.counts[k].gets++
	}
	return l
}

// turn is called after each collection, with the classes that are in use.
func (s *spares) turn(busy *[numClasses]bool, cycle uint32) {
	if l := s.released.Load(); l != nil && cycle-atomic.LoadUint32(&l.cycle) >= 2 && s.released.CompareAndSwap(l, nil) {
		runtime.SetFinalizer(l, nil)
		l.retire()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = false
	for _, b := range busy {
		s.active = s.active || b
	}
	kept := s.list[:0]
	for _, l := range s.list {
		l.idle++
		l.forget(busy)
		if s.active && l.idle <= spareTurns {
			kept = append(kept, l)
		} else {
			l.forget(new([numClasses]bool))
		}
	}
	clear(s.list[len(kept):])
	s.list = kept
}

// retire is called when nobody has l any more, as the collector found out or turn knows.
func (l *Local) retire() {
	s := &l.depot.spares
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active && len(s.list) < runtime.GOMAXPROCS(0) {
		for k := range l.stacks {
			l.keep(uint(k), l.depot.classes[k].depth)
		}
		s.list = append(s.list, l)
		return
	}
	l.forget(new([numClasses]bool))
}

// forget drops the buffers of all classes but those that are busy, and of these what
// their stacks were deepened for, and publishes all counts.
func (l *Local) forget(busy *[numClasses]bool) {
	for k := range l.stacks {
		keep := uint32(0)
		if busy[k] {
			keep = l.depot.classes[k].depth
		}
		l.keep(uint(k), keep)
		l.publish(uint(k))
	}
}

// keep drops all buffers of class k but n.
func (l *Local) keep(k uint, n uint32) {
	if st := &l.stacks[k]; st.n() > n {
		st.drop(st.n() - n)
	}
}
