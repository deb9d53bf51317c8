package exectrace

import (
	"encoding/binary"
	"slices"
)

// Where an event ends follows from its bytes, one after the other: who hops from event to event waits for
// what the last hop loads. So a worker hops through several batches at once, in turns, and they wait
// together: eight go 2.5 to 4 times as fast as one. What the events say is looked at after that.

// lanes is how many batches a worker reads at once. Fewer wait; more do not go faster.
const lanes = 8

// worker reads the batches of generations.
type worker struct {
	shapes  shapes
	parsers [lanes]parser

	pos, end [lanes]int // of the batches that are being read: where the next event begins, where there is none
	stops    [lanes][256]int
}

// shapes is what there is to know of events to get from one to the next.
type shapes struct {
	numbers [256]uint16 // how many a kind of event has, the time included, above the eight bits of ends
	steps   steps
}

func newWorker() *worker {
	w := &worker{shapes: shapes{steps: newSteps()}}
	for kind, t := range traits() {
		w.shapes.numbers[kind] = uint16(t &^ (1<<traitShift - 1))
	}
	for i := range w.parsers {
		w.parsers[i].traits = traits()
	}
	return w
}

// run reads batches of g until there is no next one.
func (w *worker) run(g *parsed, next func() (*batch, *result)) {
	var busy []*parser
	for i := range w.parsers {
		w.parsers[i].use(g)
		busy = append(busy, &w.parsers[i])
	}
	for {
		busy = slices.DeleteFunc(busy, func(p *parser) bool { return !p.ready(next) })
		if len(busy) == 0 {
			return
		}
		for lane, p := range busy {
			w.pos[lane], w.end[lane] = p.walk.pos, p.batch.end
		}
		n, stuck := w.hop(g.data, len(busy))
		for lane, p := range busy {
			p.walk.pos = w.pos[lane]
			if lane < stuck {
				p.pick(w.stops[lane][:n+1])
			} else {
				p.pick(w.stops[lane][:n])
			}
			if lane == stuck && !p.done() {
				p.long()
			}
		}
	}
}

// hop notes where the next events of the first batches begin. Each gets n stops, and those before lane
// stuck one more. The batch there is at its end, or at an event that does not show in eight bytes how long
// it is; stuck is -1 where there was no room for more stops.
func (w *worker) hop(d []byte, batches int) (n, stuck int) {
	pos, s := w.pos[:batches], &w.shapes
	end := w.end[:len(pos)]
	stops := w.stops[:len(pos)]
	for n := range w.stops[0] {
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
	return len(w.stops[0]), -1
}

// steps gives the length of an event by the number of its numbers and by which of its first eight bytes end
// one; 0 where that is not known from these.
type steps [maxNumbers << traitShift]uint8

// maxNumbers is more than any event has.
const maxNumbers = 8

func newSteps() steps {
	var s steps
	for ends := range 256 {
		n := 0
		for i := 1; i < 8; i++ {
			if ends>>i&1 != 0 && n+1 < maxNumbers {
				n++
				s[n<<traitShift|ends] = uint8(i + 1)
			}
		}
	}
	return s
}

// ends has bit i set where byte i of event, which is not the first one, ends a number.
func ends(event uint64) uint64 {
	return (^event & 0x8080808080808000) * 0x0002040810204081 >> 56 // moves bit 7 of each byte into the highest byte
}
