package exectrace

import (
	"math/bits"
	"slices"
)

// goroutineState is what the order knows of a goroutine.
type goroutineState struct {
	id      int64
	status  uint8
	at      sequence
	ranges  []openRange
	regions []openRegion
	next    *goroutineState // of those to use again
}

// procState is the same of a proc.
type procState struct {
	id     int64
	status uint8
	at     sequence
	ranges []openRange
}

// carrier is a thread, with what runs on it.
type carrier struct {
	id        int64
	seen      bool // it had an event, or was spoken of
	goroutine int64
	last      *goroutineState // the state of goroutine, probably
	proc      *procState      // nil for none
}

// sequence is a place in the course of a goroutine or proc. It begins anew in
// each generation.
type sequence struct{ generation, number uint64 }

func (s sequence) before(generation, number uint64) bool {
	return s.generation == generation && s.number+1 == number
}

// openRange is a range that a goroutine or proc is in.
type openRange struct {
	kind   RangeKind
	number uint64 // of the string that says why, in the generation where it began
	reason string // what it stood for there
}

// openRegion is a region that a goroutine is in.
type openRegion struct {
	task uint64
	name string
}

func within(ranges []openRange, kind RangeKind, number uint64) bool {
	return slices.ContainsFunc(ranges, func(r openRange) bool { return r.kind == kind && r.number == number })
}

// leaveRange ends the first range of a kind.
func leaveRange(ranges *[]openRange, kind RangeKind) (openRange, bool) {
	list := *ranges
	for i, r := range list {
		if r.kind == kind {
			last := len(list) - 1
			list[i] = list[last]
			list[last] = openRange{}
			*ranges = list[:last]
			return r, true
		}
	}
	return openRange{}, false
}

// goroutineStates finds goroutines by their IDs: a hash table with linear
// probing, since a lookup in a map would be much of what an event costs.
type goroutineStates struct {
	slots []*goroutineState // as many as a power of two, at most half of them full
	shift int
	count int
	free  *goroutineState
	fresh []goroutineState
}

func (t *goroutineStates) home(id int64) int { return int(uint64(id) * 0x9e3779b97f4a7c15 >> t.shift) }

// find returns the state of a goroutine, or nil.
func (t *goroutineStates) find(id int64) *goroutineState {
	if t.count == 0 {
		return nil
	}
	for i := t.home(id); ; i = (i + 1) & (len(t.slots) - 1) {
		if s := t.slots[i]; s == nil || s.id == id {
			return s
		}
	}
}

// add returns the state of a goroutine that has none yet.
func (t *goroutineStates) add(id int64) *goroutineState {
	if 2*(t.count+1) > len(t.slots) {
		t.grow()
	}
	s := t.free
	if s != nil {
		t.free = s.next
		*s = goroutineState{id: id, ranges: s.ranges[:0], regions: s.regions[:0]}
	} else {
		if len(t.fresh) == 0 {
			t.fresh = make([]goroutineState, 256)
		}
		s, t.fresh = &t.fresh[0], t.fresh[1:]
		s.id = id
	}
	t.place(s)
	t.count++
	return s
}

func (t *goroutineStates) grow() {
	old := t.slots
	n := max(64, 2*len(old))
	t.slots, t.shift = make([]*goroutineState, n), 64-bits.TrailingZeros(uint(n))
	for _, s := range old {
		if s != nil {
			t.place(s)
		}
	}
}

func (t *goroutineStates) place(s *goroutineState) {
	i := t.home(s.id)
	for t.slots[i] != nil {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
}

// drop forgets a goroutine.
func (t *goroutineStates) drop(s *goroutineState) {
	mask := len(t.slots) - 1
	hole := t.home(s.id)
	for t.slots[hole] != s {
		hole = (hole + 1) & mask
	}
	// Those behind that would not be found across the hole move into it.
	for i := (hole + 1) & mask; t.slots[i] != nil; i = (i + 1) & mask {
		if (i-t.home(t.slots[i].id))&mask >= (i-hole)&mask {
			t.slots[hole] = t.slots[i]
			hole = i
		}
	}
	t.slots[hole] = nil
	t.count--
	s.id, s.next = None, t.free
	t.free = s
}
