// Package hop finds where the events of batches begin. Where an event ends follows from its bytes, one after
// the other: who hops from event to event waits for what the last hop loads. So a Hopper goes through several
// batches at once, in turns, and they wait together: eight go 2.5 to 4 times as fast as one.
package hop

import (
	"encoding/binary"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// Lanes is how many batches are read at once. Fewer wait; more do not go faster.
const Lanes = 8

// Hopper goes through batches.
type Hopper struct {
	Pos, End [Lanes]int // where the next event of each begins, and where there is none
	stops    [Lanes][256]int
	n, stuck int // of the last Hop

	numbers [256]uint16 // how many a kind of event has, the time included, above the eight bits of ends
	steps   steps
}

const shift = 8

// New returns a Hopper without batches.
func New() *Hopper {
	h := &Hopper{steps: newSteps()}
	for kind, n := range wire.Arguments() {
		h.numbers[kind] = uint16(n) << shift
	}
	return h
}

// Hop notes where the next events of the first batches begin, in d. It returns which batch is at its end, or
// at an event that does not show in eight bytes how long it is; -1 where there was no room for more stops.
func (h *Hopper) Hop(d []byte, batches int) (stuck int) {
	h.n, h.stuck = h.hop(d, batches)
	return h.stuck
}

// Of returns where the events of a batch began in the last Hop.
func (h *Hopper) Of(lane int) []int {
	if lane < h.stuck {
		return h.stops[lane][:h.n+1]
	}
	return h.stops[lane][:h.n]
}

// hop gives each batch n stops, and those before the one that is stuck one more.
func (h *Hopper) hop(d []byte, batches int) (n, stuck int) {
	pos, s := h.Pos[:batches], h
	end := h.End[:len(pos)]
	stops := h.stops[:len(pos)]
	for n := range h.stops[0] {
		for lane, i := range pos {
			if i >= end[lane] {
				return n, lane
			}
			event := binary.LittleEndian.Uint64(d[i : i+8])
			step := s.steps[(uint64(s.numbers[uint8(event)])|ends(event))%uint64(len(s.steps))]
			if step == 0 {
				return n, lane
			}
			stops[lane][n] = i
			pos[lane] = i + int(step)
		}
	}
	return len(h.stops[0]), -1
}

// steps gives the length of an event by the number of its numbers and by which of its first eight bytes end
// one; 0 where that is not known from these.
type steps [maxNumbers << shift]uint8

// maxNumbers is more than any event has.
const maxNumbers = 8

func newSteps() steps {
	var s steps
	for ends := range 256 {
		n := 0
		for i := 1; i < 8; i++ {
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
