// Package hop goes through the events of batches and picks those that have to be read in full. An event's length
// follows only from its bytes, so each hop waits for the load of the one before. A Hopper therefore goes through
// several batches in turns, and their loads overlap: eight batches go 2.5 to 4 times as fast as one. A processor
// cannot predict which events are picked, so a Hopper picks without branches.
package hop

import (
	"encoding/binary"
	"math/bits"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// Lanes is how many batches are read at once. Fewer wait; more do not go faster.
const Lanes = 8

// rounds is how many events of a batch are read at once, at most: as many as the fields of a Place can count.
const rounds = 1<<countBits - 2

// Place is where an event is: its position, the time since the Hop began, and in which rows the next change of
// who runs and the next pick go.
type Place uint64

// The fields of a Place. A time of two bytes has 14 bits.
const (
	posBits   = 20
	timeShift = posBits
	timeBits  = 22
	countBits = 8
	laneBits  = 3
	turnShift = timeShift + timeBits
	pickShift = turnShift + countBits + laneBits
	rows      = Lanes << countBits
)

// Nowhere is no place.
const Nowhere Place = 1<<64 - 1

// Pos returns the position.
func (p Place) Pos() int { return int(p % (1 << posBits)) }

// Time returns the time.
func (p Place) Time() uint64 { return uint64(p) >> timeShift % (1 << timeBits) }

func (p Place) turn() uint64 { return uint64(p) >> turnShift % rows }
func (p Place) pick() uint64 { return uint64(p) >> pickShift }

// Kind is what picking needs to know of a kind of event: the number of its numbers, the time included, above
// the eight bits of goesOn, and the flags. It is 0 for a kind that does not occur among events.
type Kind uint64

// The flags. What is added to a Place counts.
const (
	Watch  Kind = 1 << 16        // the next change of who runs is to be looked at, too
	Turn   Kind = 1 << turnShift // changes who runs on the thread
	Picked Kind = 1 << pickShift // to be looked at
)

// Numbers is how many numbers an event of the kind has.
func (k Kind) Numbers() uint { return uint(k>>shift) % maxNumbers }

// Kinds returns all kinds; always, if each change of who runs is to be looked at.
func Kinds(always bool) *[256]Kind {
	var k [256]Kind
	for kind, n := range wire.Arguments() {
		k[kind] = Kind(n) << shift
	}
	for _, kind := range []int{
		wire.GoCreateSyscall, wire.GoStart, wire.GoDestroy, wire.GoDestroySyscall, wire.GoStop, wire.GoBlock, wire.GoSyscallEndBlocked, wire.GoSwitch, wire.GoSwitchDestroy,
	} {
		if k[kind] |= Turn; always {
			k[kind] |= Picked
		}
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
	return &k
}

// Hopper goes through batches.
type Hopper struct {
	Block uint64               // a turn whose bytes 0 and 2 are those of this is picked, too
	Data  [1<<posBits + 8]byte // the batches, with slack behind each

	places [Lanes]Place // of the next event of each batch
	turns  [rows]Place  // the changes of who runs of each batch; the first one is Nowhere
	picks  [rows]Place

	Kinds [256]Kind
	steps steps
}

const shift = 8

// New returns a Hopper without batches; always, if each change of who runs is to be looked at.
func New(always bool) *Hopper { return &Hopper{Kinds: *Kinds(always), steps: newSteps()} }

// Begin puts a batch into a lane, from pos to its end. Eight bytes of 0 must follow the batch.
func (h *Hopper) Begin(lane, pos int) {
	row := Place(lane) << countBits
	h.places[lane] = Place(pos) | (row+1)<<turnShift | row<<pickShift
	h.turns[row] = Nowhere
}

// Hop goes through the next events of the first batches. It passes n events of each batch, and one more of
// those before the batch that is stuck; -1 if none is. A batch is stuck at its end, at an event whose length does
// not show in its first sixteen bytes, and at one whose time takes more than two bytes.
func (h *Hopper) Hop(batches int) (n, stuck int) {
	places := h.places[:batches]
	for n := range rounds {
		for k := range places {
			place := places[k]
			i := place.Pos()
			event := binary.LittleEndian.Uint64(h.Data[i : i+8])
			kind := h.Kinds[uint8(event)]
			step := h.steps[(uint64(kind)|goesOn(event))%uint64(len(h.steps))]
			if int8(step) <= 0 {
				if step == 0 {
					step = h.far(i, kind)
				}
				if step == 0 {
					return n, k
				}
				step &^= wide
				place += Place(event>>16%0x80<<7*(event>>15&1)) << timeShift // nothing for a time of one byte
			}
			place += Place(event&0x7f00) << (timeShift - 8)
			if event&0xff00ff == h.Block {
				kind |= Picked
			}
			places[k] = place + Place(kind&(Turn|Picked)) + Place(step)
			h.turns[place.turn()] = place
			h.picks[place.pick()] = place
		}
	}
	return rounds, -1
}

// far is the step of an event whose length does not show in its first eight bytes; 0 where a batch is stuck. Events of
// tasks are that long.
//
//go:noinline
func (h *Hopper) far(i int, kind Kind) uint8 {
	event, rest := binary.LittleEndian.Uint64(h.Data[i:]), binary.LittleEndian.Uint64(h.Data[i+8:])
	const ends, time = 0x8080808080808080, 0x808000
	missing := int(kind.Numbers()) - bits.OnesCount64(^event&ends&^0xff)
	if event&time == time || missing <= 0 {
		return 0
	}
	in := ^rest & ends
	for ; missing > 1; missing-- {
		in &= in - 1
	}
	if in == 0 {
		return 0
	}
	return uint8(8+bits.TrailingZeros64(in)>>3+1) | uint8(event>>8)&wide
}

// Found returns the events picked from a batch, and the place of the next event, with the time of the last one.
func (h *Hopper) Found(lane int) (picks []Place, next Place) {
	next = h.places[lane]
	return h.picks[lane<<countBits : next.pick()], next
}

// Turn returns the last change of who runs before an event, or Nowhere.
func (h *Hopper) Turn(event Place) Place { return h.turns[event.turn()-1] }

// steps gives the length of an event by the number of its numbers and by which of its first eight bytes end
// one; 0 where that is not known from these, and where the first number, the time, has more than two bytes.
type steps [maxNumbers << shift]uint8

// wide is added where the first number, the time, has two bytes.
const wide = 0x80

// maxNumbers is more than any event has.
const maxNumbers = 8

func newSteps() steps {
	var s steps
	for goesOn := range 256 {
		n, ends := 0, ^goesOn
		for i := 1; i < 8 && ends&6 != 0; i++ {
			if ends>>i&1 != 0 && n+1 < maxNumbers {
				n++
				s[n<<shift|goesOn] = uint8(i + 1)
				if ends&2 == 0 {
					s[n<<shift|goesOn] |= wide
				}
			}
		}
	}
	return s
}

// goesOn has bit i set where a number goes on behind byte i of event, which is not the first one.
func goesOn(event uint64) uint64 {
	return (event & 0x8080808080808000) * 0x0002040810204081 >> 56 // moves bit 7 of each byte into the highest byte
}
