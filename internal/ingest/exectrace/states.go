package exectrace

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/table"
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

// goroutineStates finds goroutines by their IDs. It keeps the states of those that are gone, to use again.
type goroutineStates struct {
	table.Table[goroutineState]
	free  *goroutineState
	fresh []goroutineState
}

// add returns the state of a goroutine that has none yet.
func (t *goroutineStates) add(id int64) *goroutineState {
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
	t.Add(id, s)
	return s
}

// drop forgets a goroutine.
func (t *goroutineStates) drop(s *goroutineState) {
	t.Drop(s.id)
	s.id, s.next = None, t.free
	t.free = s
}
