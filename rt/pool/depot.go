package pool

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// depot is what the users of one Bytes share beside the sync.Pools of its classes:
// the reserve and the caches of the Locals.
//
// The reserve is a list of free buffers for each class, behind a lock. Locals exchange
// batches through it. Get and Put use it for classes that a sync.Pool serves badly: those
// that had to make buffers in several cycles of the collector, because the free ones lay
// with a P on which nobody asked for them during two cycles.
//
// What nobody uses is left to the collector, as a sync.Pool leaves it: after each
// collection, turn forgets all lists and all caches of Locals but for weak pointers.
// Whoever uses one again puts it into grace, a sync.Pool, where it survives the next
// collection, and is dropped by the one after.
type depot struct {
	pool    *Bytes
	shelves [numClasses]shelf
	bytes   atomic.Int64 // on all shelves
	most    int64        // of bytes

	oversize atomic.Uint64
	foreign  atomic.Uint64

	mu    sync.Mutex
	cells []weak.Pointer[cell] // of all Locals
	spare []*cell              // of those that were released
	grace sync.Pool            // of *list and *cache; nobody takes them out
}

// shelf is the reserve of one class, and its counts: one cache line.
type shelf struct {
	mu     sync.Mutex
	free   *list // nil after a collection, until the next use
	last   weak.Pointer[list]
	n      int    // buffers in last
	gets   int    // buffers asked for since the last collection
	before int    // buffers asked for in the cycle before that
	first  bool   // Get and Put use the reserve before the sync.Pool
	missed bool   // since the last collection
	heat   uint32 // cycles with a miss, of late
	misses uint64
}

// list is free buffers of one class, the last put at the end.
type list struct{ items []unsafe.Pointer }

const (
	// A class has the reserve come first from regret cycles with misses on, of which each
	// counts for forgive cycles; until there are so many Gets in a cycle that their locks
	// cost more than the misses: more than one for each getBytes of a buffer. Smaller
	// buffers than minFirst cost little to make again.
	regret   = 3
	forgive  = 8
	getBytes = 128
	minFirst = 16 << 10

	// A class has at most 1/classShare of the reserve.
	classShare = 8
)

// open returns the list of s, of class k, which the caller has locked.
func (s *shelf) open(d *depot, k uint) *list {
	if s.free != nil {
		return s.free
	}
	if s.free = s.last.Value(); s.free == nil {
		s.free = new(list)
		s.last = weak.Make(s.free)
	}
	d.settle(s, k, len(s.free.items))
	d.grace.Put(s.free)
	return s.free
}

// settle enters that n buffers of class k lie in s, which the caller has locked.
func (d *depot) settle(s *shelf, k uint, n int) {
	if n != s.n {
		d.bytes.Add(int64(n-s.n) * int64(classSize(k)))
		s.n = n
	}
}

// serve has Get and Put use the reserve first, or the sync.Pool.
func (s *shelf) serve(d *depot, k uint, first bool) {
	s.first = first
	size := int32(0)
	if !first {
		size = int32(classSize(k))
	}
	if c := &d.pool.classes[k]; c.size.Load() != size {
		c.size.Store(size)
	}
}

// take moves buffers of class k from the reserve to out, and returns how many. It does
// not wait for others: who comes at the same time had better use the sync.Pool.
func (d *depot) take(k uint, out []unsafe.Pointer) int {
	s := &d.shelves[k]
	if !s.mu.TryLock() {
		return 0
	}
	defer s.mu.Unlock()
	l := s.open(d, k)
	if s.gets += len(out); s.first && s.gets > classSize(k)/getBytes {
		s.heat = 0
		s.serve(d, k, false)
	}
	rest := len(l.items) - min(len(l.items), len(out))
	n := copy(out, l.items[rest:])
	l.items = slices.Delete(l.items, rest, len(l.items))
	d.settle(s, k, rest)
	return n
}

// give puts buffers of class k into the reserve, and those for which it has no room into
// the class's sync.Pool.
func (d *depot) give(k uint, in []unsafe.Pointer) {
	s, size := &d.shelves[k], int64(classSize(k))
	if s.mu.TryLock() {
		l := s.open(d, k)
		room := min(d.most/classShare-int64(s.n)*size, d.most-d.bytes.Load()) / size
		rest := len(in) - min(len(in), max(0, int(room)))
		l.items = append(l.items, in[rest:]...)
		in = in[:rest]
		d.settle(s, k, len(l.items))
		if !s.first {
			s.serve(d, k, false) // it may be the first use
		}
		s.mu.Unlock()
	}
	for _, x := range in {
		d.pool.classes[k].free.Put((*byte)(x))
	}
}

// miss notes that a buffer of class k has to be made.
func (d *depot) miss(k uint) {
	s := &d.shelves[k]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.misses++
	s.missed = true
	s.serve(d, k, s.first)
}

// watch has d.turn called after every collection, for as long as d is in use.
func (d *depot) watch() {
	// Unreachable at once, and no tiny object, which could share memory with a reachable one.
	marker := new([4]uintptr)
	runtime.AddCleanup(marker, func(w weak.Pointer[depot]) {
		if d := w.Value(); d != nil {
			d.turn()
			d.watch()
		}
	}, weak.Make(d))
}

// turn is called after each collection.
func (d *depot) turn() {
	for k := range d.shelves {
		d.shelves[k].turn(d, uint(k))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cells = slices.DeleteFunc(d.cells, func(w weak.Pointer[cell]) bool {
		c := w.Value()
		if c != nil {
			c.active.Store(nil)
		}
		return c == nil
	})
}

// turn drops what nobody asked for of late, and has the reserve come first where that
// helps.
func (s *shelf) turn(d *depot, k uint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Of two cycles, since turn may come late in one and early in the next.
	asked := s.gets + s.before
	s.before, s.gets = s.gets, 0
	switch l := s.free; {
	case l != nil && asked < s.n:
		l.items = slices.Delete(l.items, 0, s.n-asked)
		d.settle(s, k, asked)
	case l == nil && asked == 0:
		d.settle(s, k, 0) // the collector has it, or will
		if s.first {
			s.serve(d, k, false)
		}
	}
	s.free = nil
	s.heat -= min(s.heat, 1)
	if s.missed && classSize(k) >= minFirst {
		if s.heat += forgive; s.heat > (regret-1)*forgive {
			s.serve(d, k, true)
		}
	}
	s.missed = false
}
