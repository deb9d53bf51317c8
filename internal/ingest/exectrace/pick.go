package exectrace

import (
	"encoding/binary"
	"fmt"
)

// A scan reads each event's kind and time. It looks only at a few of them, which it picks: those
// that say something about memory. Who runs on a thread changes far more often, and matters only
// where a picked event follows. So such a change is only remembered by its position, and read
// when the next picked event is looked at.
//
// The loop that picks has no branch that depends on the kind of an event: the mispredicted ones would
// take most of its time.

// pick is an event to look at.
type pick struct {
	at, turnedAt stamp
	pos, turn    int // of the event, of the change before it of who runs here; in the data of the generation
}

// trait is what picking needs to know of a kind of event: the number of its arguments, the time
// included, above the flags.
type trait uint16

const (
	traitPicked trait = 1 << iota // to be looked at
	traitTurn                     // changes who runs on the thread
	traitWatch                    // the next change of who runs is to be looked at, too
	traitShift  = 8
)

// traits returns the traits of all kinds; those that do not occur among events have none.
func traits() *[256]trait {
	var t [256]trait
	for kind, n := range arguments() {
		t[kind] = trait(n) << traitShift
	}
	for _, kind := range []int{
		evGoCreateSyscall, evGoStart, evGoDestroy, evGoDestroySyscall, evGoStop, evGoBlock, evGoSyscallEndBlocked, evGoSwitch, evGoSwitchDestroy,
	} {
		t[kind] |= traitTurn
	}
	for _, kind := range []int{evGCMarkAssistActive, evGCMarkAssistBegin, evGCMarkAssistEnd, evGoLabel} {
		t[kind] |= traitPicked | traitWatch
	}
	for _, kind := range []int{
		evGoStatus, evGoStatusStack, evSTWBegin, evSTWEnd, evGCActive, evGCBegin, evGCEnd, evGCSweepActive, evGCSweepBegin, evGCSweepEnd,
		evHeapAlloc, evHeapGoal,
	} {
		t[kind] |= traitPicked
	}
	return &t
}

// maxArguments is more than any event has.
const maxArguments = 8

// steps gives the length of an event, its kind included, by the number of its arguments and by
// which of the eight bytes behind its kind end a number; 0 where that is not known from these.
type steps [maxArguments << traitShift]uint8

func newSteps() *steps {
	var s steps
	for ends := range 256 {
		n := 0
		for i := range 8 {
			if ends>>i&1 != 0 && n+1 < maxArguments {
				n++
				s[n<<traitShift|ends] = uint8(i + 2)
			}
		}
	}
	return &s
}

// ends has bit i set where byte i ends a number.
func ends(window uint64) uint64 {
	return (^window & 0x8080808080808080) * 0x0002040810204081 >> 56 // moves bit 7 of each byte into the highest byte
}

// run parses the events of b into r. Its data has slack bytes behind.
func (p *parser) run(b *batch, r *result) {
	r.reset()
	p.found, p.thread, p.statusOf, p.turn = r, b.thread, 0, -1
	p.reader = reader{pos: b.start, at: b.time, turn: -1, watch: traitTurn}
	if b.time > farthest {
		p.fail(b.start, errFarStamp)
		return
	}
	since, _ := number(p.data, b.start+1)
	r.first = b.time + since
	for p.reader.pos < b.end && r.err == nil {
		n := p.pick(b.end)
		for i := range p.picks[:n] {
			p.look(&p.picks[i])
		}
		if err := p.reader.err; err != nil {
			p.fail(p.reader.pos, err)
		}
	}
	if p.reader.pos > b.end {
		p.fail(b.end, errCutEvent)
	}
	if p.reader.turn != p.turn && r.err == nil {
		p.see(p.reader.turn, p.reader.turnedAt)
	}
	r.last, r.events = p.reader.at, p.reader.events
}

// reader is how far the events of a batch have been read.
type reader struct {
	at, turnedAt stamp
	pos, turn    int
	watch        trait // traitTurn where the next change of who runs is to be looked at
	events       int
	err          error // at pos
}

// pick reads events until it has picked as many as there is room for, or the batch ends.
func (p *parser) pick(end int) int {
	d, i, r := p.data, p.reader.pos, p.reader
	n := 0
	for i < end && n < len(p.picks) {
		kind := d[i]
		window := binary.LittleEndian.Uint64(d[i+1:])
		t := p.traits[kind]
		step := int(p.steps[uint64(t)&((maxArguments-1)<<traitShift)|ends(window)])
		reason := uint8(window >> 8)
		if window&0x80 == 0 {
			r.at += window & 0x7f
		} else {
			since, next := number(d, i+1)
			if r.at += since; since > farthest || r.at > farthest {
				r.err = errFarStamp
				break
			}
			reason = d[next]
		}
		if step == 0 {
			if t == 0 {
				r.err = fmt.Errorf("event %d, which does not occur among events", kind)
				break
			}
			step = p.hop(i+1, uint8(t>>traitShift)) - i
		}
		picked := t | t&r.watch>>1 // traitTurn becomes traitPicked
		if reason == p.assistWait && kind == evGoBlock && p.rules.assistWait != 0 {
			picked |= traitPicked
		}
		p.picks[n] = pick{r.at, r.turnedAt, i, r.turn}
		n += int(picked & traitPicked)
		r.watch = r.watch&^t | t>>1&traitTurn | p.always
		if t&traitTurn != 0 {
			r.turn, r.turnedAt = i, r.at
		}
		r.events++
		i += step
	}
	p.reader, p.reader.pos = r, i
	return n
}

// look hears of a picked event, after the last change of who runs before it.
func (p *parser) look(e *pick) {
	if p.found.err != nil {
		return
	}
	if e.turn != p.turn {
		p.see(e.turn, e.turnedAt)
	}
	p.see(e.pos, e.at)
}

// see reads the event at pos, after those that were seen before.
func (p *parser) see(pos int, at stamp) {
	kind := p.data[pos]
	_, i := number(p.data, pos+1)
	p.pos = pos
	p.event(kind, at, i)
	if p.traits[kind]&traitTurn != 0 {
		p.turn = pos
	}
}

// use makes p ready for the batches of a generation.
func (p *parser) use(g *parsed) {
	p.data, p.rules = g.data, g.rules
	p.assistWait = binary.AppendUvarint(nil, p.rules.assistWait)[0]
	if p.always = 0; p.rules.wanted != nil {
		p.always = traitTurn
	}
}
