// Package hop goes through the events of batches and picks those that have to be read in full. An event's length
// follows only from its bytes, so each hop waits for the load of the one before. A Hopper therefore goes through
// several batches in turns, and their loads overlap: eight batches go 2.5 to 4 times as fast as one. A processor
// cannot predict which events are picked, so a Hopper picks without branches.
package hop

import (
	"encoding/binary"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// Lanes is how many batches are read at once. Fewer wait; more do not go faster.
const Lanes = 8

// rounds is how many events of a batch are read at once, at most.
const rounds = 256

// Place is where an event is: its position, and above that the time since the Hop began.
type Place uint64

// Nowhere is no place.
const Nowhere Place = 1<<64 - 1

const timeShift = 32

// Pos returns the position.
func (p Place) Pos() int { return int(uint32(p)) }

// Time returns the time.
func (p Place) Time() uint64 { return uint64(p) >> timeShift }

// Pick is an event that is to be looked at.
type Pick struct {
	Event Place
	Turn  Place // the last change of who runs before it, or Nowhere
}

// Kind is what picking needs to know of a kind of event: the number of its numbers, the time included, above
// the eight bits of ends, and above that the flags. It is 0 for a kind that does not occur among events.
type Kind uint32

// The flags.
const (
	Picked Kind = 1 << 31 // to be looked at
	Turn   Kind = 1 << 30 // changes who runs on the thread
	Watch  Kind = 1 << 29 // the next change of who runs is to be looked at, too
)

// Numbers is how many numbers an event of the kind has.
func (k Kind) Numbers() uint { return uint(k>>shift) % maxNumbers }

// kinds returns all kinds.
func kinds() [256]Kind {
	var k [256]Kind
	for kind, n := range wire.Arguments() {
		k[kind] = Kind(n) << shift
	}
	for _, kind := range []int{
		wire.GoCreateSyscall, wire.GoStart, wire.GoDestroy, wire.GoDestroySyscall, wire.GoStop, wire.GoBlock, wire.GoSyscallEndBlocked, wire.GoSwitch, wire.GoSwitchDestroy,
	} {
		k[kind] |= Turn
	}
	for _, kind := range []int{wire.GCMarkAssistActive, wire.GCMarkAssistBegin, wire.GCMarkAssistEnd, wire.GoLabel} {
		k[kind] |= Picked | Watch
	}
	for _, kind := range []int{
		wire.GoStatus, wire.GoStatusStack, wire.STWBegin, wire.STWEnd, wire.GCActive, wire.GCBegin, wire.GCEnd, wire.GCSweepActive, wire.GCSweepBegin, wire.GCSweepEnd,
		wire.HeapAlloc, wire.HeapGoal,
	} {
		k[kind] |= Picked
	}
	return k
}

// Hopper goes through batches.
type Hopper struct {
	Block uint32 // events whose bytes 0 and 2 are those of this are picked, too

	lanes [Lanes]lane

	kinds [256]Kind
	steps steps
}

// lane is a batch.
type lane struct {
	place Place // of the next event
	turn  Place
	found uint
	picks [rounds]Pick
}

const shift = 8

// New returns a Hopper without batches; always, if each change of who runs is to be looked at. The data is
// less than 4 GiB.
func New(always bool) *Hopper {
	h := &Hopper{kinds: kinds(), steps: newSteps()}
	for i, k := range h.kinds {
		if always && k&Turn != 0 {
			h.kinds[i] |= Picked
		}
	}
	return h
}

// Kinds returns the kinds of event.
func (h *Hopper) Kinds() *[256]Kind { return &h.kinds }

// Begin puts a batch into a lane, from pos to its end. Eight bytes of 0 must follow the batch.
func (h *Hopper) Begin(lane, pos int) {
	l := &h.lanes[lane]
	l.place, l.turn, l.found = Place(pos), Nowhere, 0
}

// Hop goes through the next events of the first batches, in d. It passes n events of each batch, and one more of
// those before the batch that is stuck; -1 if none is. A batch is stuck at its end, at an event whose length does
// not show in its first eight bytes, and at one whose time takes more than two bytes.
func (h *Hopper) Hop(d []byte, batches int) (n, stuck int) {
	lanes := h.lanes[:batches]
	for n := range rounds {
		for k := range lanes {
			l := &lanes[k]
			place := l.place
			i := place.Pos()
			event := binary.LittleEndian.Uint64(d[i : i+8])
			kind := h.kinds[uint8(event)]
			step := h.steps[(uint64(kind)|ends(event))%uint64(len(h.steps))]
			if step == 0 {
				return n, k
			}
			since := event >> 8 & 0x7f
			if event&0x8000 != 0 {
				since |= event >> 16 & 0x7f << 7
			}
			place += Place(since << timeShift)
			turn := l.turn
			l.picks[l.found%rounds] = Pick{place, turn}
			if kind&Turn != 0 {
				turn = place
			}
			blocks := uint(0)
			if uint32(event)&0xff00ff == h.Block {
				blocks = 1
			}
			l.turn = turn
			l.found += uint(kind>>31) | blocks
			l.place = place + Place(step)
		}
	}
	return rounds, -1
}

// Found returns the events picked from a batch, the place of the last change of the running goroutine (Nowhere if
// there is none), and the place of the next event, with the time of the last one.
func (h *Hopper) Found(lane int) (picks []Pick, turn, next Place) {
	l := &h.lanes[lane]
	return l.picks[:l.found], l.turn, l.place
}

// steps gives the length of an event by the number of its numbers and by which of its first eight bytes end
// one; 0 where that is not known from these, and where the first number, the time, has more than two bytes.
type steps [maxNumbers << shift]uint8

// maxNumbers is more than any event has.
const maxNumbers = 8

func newSteps() steps {
	var s steps
	for ends := range 256 {
		n := 0
		for i := 1; i < 8 && ends&6 != 0; i++ {
			if ends>>i&1 != 0 && n+1 < maxNumbers {
				n++
				s[n<<shift|ends] = uint8(i + 1)
			}
		}
	}
	return s
}

// ends has bit i set where byte i of event, which is not the first one, ends a number.
func ends(event uint64) uint64 {
	return (^event & 0x8080808080808000) * 0x0002040810204081 >> 56 // moves bit 7 of each byte into the highest byte
}
