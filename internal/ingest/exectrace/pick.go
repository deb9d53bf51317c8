package exectrace

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// A scan reads each event's kind and time. It looks only at a few of them, which it picks: those
// that say something about memory. Who runs on a thread changes far more often, and matters only
// where a picked event follows. So such a change is only remembered by its position, and read
// when the next picked event is looked at: it is found by going back from there.

// place is where an event is, in time and in the data.
type place struct {
	at  stamp
	pos int
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

// walk is how far the events of a batch have been read.
type walk struct {
	at     stamp
	pos    int
	turn   place // the last change of who runs
	wanted trait // traitPicked, and traitTurn where the next change of who runs is to be looked at, too
	events int
}

// pick looks at those that matter of the next events, which begin at stops.
func (p *parser) pick(stops []int) {
	d, w := p.data, &p.walk
	searched := 0 // before that, for changes of who runs
	for k := p.skip(stops); k < len(stops); k += 1 + p.skip(stops[k+1:]) {
		pos, before := stops[k], w.at
		kind := d[pos]
		since, next := wire.Number(d, pos+1)
		if w.at += since; w.at > farthest {
			p.fail(pos, errFarStamp)
		}
		t := p.traits[kind]
		switch {
		case kind == wire.HeapAlloc: // often, and whoever runs
			v, _ := wire.Number(d, next)
			p.found.live = append(p.found.live, sample{w.at, v})
		case t&w.wanted != 0 || kind == wire.GoBlock: // with a long time, whatever its reason
			p.turn(stops[searched:k], before)
			searched = k
			p.look(place{w.at, pos})
			w.wanted = p.after(t)
		}
	}
	p.turn(stops[searched:], w.at)
	w.events += len(stops)
}

// skip returns how many events come before one to look at, or one with a long time. It calls nothing, so
// that all it needs stays in registers.
func (p *parser) skip(stops []int) int {
	d, wanted, assistWait, at := p.data, p.walk.wanted, p.assistWait, p.walk.at
	skipped := len(stops)
	for k, i := range stops {
		event := binary.LittleEndian.Uint32(d[i : i+4])
		since := event >> 8 & 0xff
		if uint32(p.traits[uint8(event)]&wanted)|since&0x80 != 0 || uint8(event>>16) == assistWait && uint8(event) == wire.GoBlock {
			skipped = k
			break
		}
		at += uint64(since)
	}
	p.walk.at = at
	return skipped
}

// turn finds the last change of who runs among stops, the last of which is at at.
func (p *parser) turn(stops []int, at stamp) {
	for _, pos := range slices.Backward(stops) {
		if p.traits[p.data[pos]]&traitTurn != 0 {
			p.walk.turn = place{at, pos}
			return
		}
		since, _ := wire.Number(p.data, pos+1)
		at -= since
	}
}

// after returns the traits of events to look at behind an event with trait t.
func (p *parser) after(t trait) trait {
	return p.walk.wanted&^(t&traitTurn) | t>>1&traitTurn | p.always
}

// long reads one event, whatever its numbers.
func (p *parser) long() {
	w := &p.walk
	pos, kind := w.pos, p.data[w.pos]
	t := p.traits[kind]
	since, next := wire.Number(p.data, pos+1)
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
	if t&w.wanted != 0 || kind == wire.GoBlock {
		p.look(place{w.at, pos})
	}
	w.wanted = p.after(t)
	if t&traitTurn != 0 {
		w.turn = place{w.at, pos}
	}
}

// look hears of a picked event, after the last change of who runs before it.
func (p *parser) look(e place) {
	if p.found.err != nil {
		return
	}
	if p.walk.turn.pos != p.seen {
		p.see(p.walk.turn)
	}
	p.see(e)
}

// see reads the event at e, after those that were seen before.
func (p *parser) see(e place) {
	kind := p.data[e.pos]
	_, i := wire.Number(p.data, e.pos+1)
	p.pos = e.pos
	p.event(kind, e.at, i)
	if p.traits[kind]&traitTurn != 0 {
		p.seen = e.pos
	}
}

// ready reports whether there is something to read, of the next batch if need be.
func (p *parser) ready(next func() (*batch, *result)) bool {
	for p.batch == nil || p.done() {
		if p.batch != nil {
			p.finish()
		}
		b, r := next()
		if b == nil {
			return false
		}
		p.begin(b, r)
	}
	return true
}

// begin makes p ready for the events of b, which go into r.
func (p *parser) begin(b *batch, r *result) {
	r.reset()
	p.batch, p.found, p.thread, p.statusOf, p.seen = b, r, b.thread, 0, -1
	p.walk = walk{pos: p.start, at: b.time, turn: place{pos: -1}, wanted: traitPicked | traitTurn}
	p.end = p.start + b.end - b.start
	if r.err = p.generation.load(b, p.data[p.start:]); r.err != nil {
		return
	}
	if b.time > farthest {
		p.fail(p.start, errFarStamp)
		return
	}
	since, _ := wire.Number(p.data, p.start+1)
	r.first = b.time + since
}

// done reports whether there is nothing left to read in the batch.
func (p *parser) done() bool { return p.found.err != nil || p.walk.pos >= p.end }

// finish ends the batch.
func (p *parser) finish() {
	if p.walk.pos > p.end {
		p.fail(p.end, errCutEvent)
	}
	if p.walk.turn.pos != p.seen && p.found.err == nil {
		p.see(p.walk.turn)
	}
	p.found.last, p.found.events = p.walk.at, p.walk.events
	if p.rules.scale != 1 {
		p.found.rescale(p.rules.scale)
	}
	p.batch = nil
}

// use makes p ready for the batches of a generation.
func (p *parser) use(g *parsed) {
	p.generation, p.rules, p.batch = g.generation, g.rules, nil
	p.assistWait = binary.AppendUvarint(nil, p.rules.assistWait)[0]
	if p.always = 0; p.rules.wanted != nil {
		p.always = traitTurn
	}
}
