package exectrace

import (
	"encoding/binary"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
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
func traits() [256]trait {
	var t [256]trait
	for kind, n := range wire.Arguments() {
		t[kind] = trait(n) << traitShift
	}
	for _, kind := range []int{
		wire.GoCreateSyscall, wire.GoStart, wire.GoDestroy, wire.GoDestroySyscall, wire.GoStop, wire.GoBlock, wire.GoSyscallEndBlocked, wire.GoSwitch, wire.GoSwitchDestroy,
	} {
		t[kind] |= traitTurn
	}
	for _, kind := range []int{wire.GCMarkAssistActive, wire.GCMarkAssistBegin, wire.GCMarkAssistEnd, wire.GoLabel} {
		t[kind] |= traitPicked | traitWatch
	}
	for _, kind := range []int{
		wire.GoStatus, wire.GoStatusStack, wire.STWBegin, wire.STWEnd, wire.GCActive, wire.GCBegin, wire.GCEnd, wire.GCSweepActive, wire.GCSweepBegin, wire.GCSweepEnd,
		wire.HeapAlloc, wire.HeapGoal,
	} {
		t[kind] |= traitPicked
	}
	return t
}

// maxArguments is more than any event has.
const maxArguments = 8

// steps gives the length of an event, its kind included, by the number of its arguments and by
// which of the eight bytes behind its kind end a number; 0 where that is not known from these.
type steps [maxArguments << traitShift]uint8

func newSteps() steps {
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
	return s
}

// ends has bit i set where byte i ends a number.
func ends(window uint64) uint64 {
	return (^window & 0x8080808080808080) * 0x0002040810204081 >> 56 // moves bit 7 of each byte into the highest byte
}

// run parses the events of b into r. Its data has slack bytes behind.
func (p *parser) run(b *batch, r *result) {
	r.reset()
	p.found, p.thread, p.statusOf, p.seen = r, b.thread, 0, -1
	p.walk = walk{pos: b.start, at: b.time, turn: -1, watch: traitTurn}
	if b.time > farthest {
		p.fail(b.start, errFarStamp)
		return
	}
	since, _ := number(p.data, b.start+1)
	r.first = b.time + since
	for r.err == nil && p.walk.pos < b.end {
		n := p.pick(p.data[:b.end+8])
		for i := range p.picks[:n] {
			p.look(&p.picks[i])
		}
		if r.err == nil && n < len(p.picks) && p.walk.pos < b.end {
			p.long()
		}
	}
	if p.walk.pos > b.end {
		p.fail(b.end, errCutEvent)
	}
	if p.walk.turn != p.seen && r.err == nil {
		p.see(p.walk.turn, p.walk.turnedAt)
	}
	r.last, r.events = p.walk.at, p.walk.events
}

// walk is how far the events of a batch have been read.
type walk struct {
	at, turnedAt stamp
	pos, turn    int
	watch        trait // traitTurn where the next change of who runs is to be looked at
	events       int
}

// pick goes on until it has picked as many events as there is room for, or there are less than nine bytes of d
// left, or an event comes with long numbers.
func (p *parser) pick(d []byte) int {
	i, turn, watch, events := p.walk.pos, p.walk.turn, p.walk.watch, p.walk.events
	at, turnedAt := p.walk.at, p.walk.turnedAt
	n := 0
	for n < len(p.picks) && i >= 0 && i <= len(d)-9 {
		kind := d[i]
		window := binary.LittleEndian.Uint64(d[i+1 : i+9])
		t := p.traits[kind]
		step := p.steps[uint64(t)&((maxArguments-1)<<traitShift)|ends(window)]
		if step == 0 || window&0x80 != 0 {
			break
		}
		at += window & 0x7f
		picked := t | t&watch>>1 // traitTurn becomes traitPicked
		if uint8(window>>8) == p.assistWait && kind == wire.GoBlock {
			picked |= traitPicked
		}
		p.picks[n] = pick{at, turnedAt, i, turn}
		n += int(picked & traitPicked)
		watch = watch&^t | t>>1&traitTurn | p.always
		if t&traitTurn != 0 {
			turn = i
		}
		if t&traitTurn != 0 {
			turnedAt = at
		}
		events++
		i += int(step)
	}
	p.walk = walk{at, turnedAt, i, turn, watch, events}
	return n
}

// long reads one event, whatever its numbers.
func (p *parser) long() {
	w := &p.walk
	pos, kind := w.pos, p.data[w.pos]
	t := p.traits[kind]
	since, next := number(p.data, pos+1)
	w.at += since
	switch {
	case t == 0:
		p.fail(pos, fmt.Errorf("event %d, which does not occur among events", kind))
		return
	case since > farthest || w.at > farthest:
		p.fail(pos, errFarStamp)
		return
	}
	w.pos = p.hop(next, uint8(t>>traitShift)-1)
	w.events++
	if (t|t&w.watch>>1)&traitPicked != 0 || kind == wire.GoBlock {
		p.look(&pick{w.at, w.turnedAt, pos, w.turn})
	}
	w.watch = w.watch&^t | t>>1&traitTurn | p.always
	if t&traitTurn != 0 {
		w.turn, w.turnedAt = pos, w.at
	}
}

// look hears of a picked event, after the last change of who runs before it.
func (p *parser) look(e *pick) {
	if p.data[e.pos] == wire.HeapAlloc { // often, and whoever runs
		_, i := number(p.data, e.pos+1)
		v, _ := number(p.data, i)
		p.found.live = append(p.found.live, sample{e.at, v})
		return
	}
	if p.found.err != nil {
		return
	}
	if e.turn != p.seen {
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
		p.seen = pos
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
