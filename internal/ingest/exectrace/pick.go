package exectrace

import (
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/course"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/hop"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// A scan reads each event's kind and time. It looks only at a few of them, which it picks: those
// that say something about memory. Who runs on a thread changes far more often, and matters only
// where a picked event follows. So such a change is only remembered, and read when the next picked
// event is looked at.

// place is where an event is, in time and in the data.
type place struct {
	at  stamp
	pos int
}

// walk is how far the events of a batch have been read.
type walk struct {
	at     stamp
	pos    int
	turn   place // the last change of who runs
	watch  bool  // the next change of who runs is to be looked at, too
	events int
}

// pick looks at those that matter of the events that a Hopper went through.
func (p *parser) pick(h *hop.Hopper, lane int) {
	picks, next := h.Found(lane)
	d, w, begin := p.data, &p.walk, p.walk.at
	moment := func(e hop.Place) place { return place{begin + e.Time(), e.Pos()} }
	p.watch(next.Pos())
	for _, pick := range picks {
		e := moment(pick)
		if e.pos < w.pos { // while watching
			continue
		}
		kind := d[e.pos]
		if kind == wire.HeapAlloc { // often, and whoever runs
			_, i := wire.Number(d, e.pos+1)
			v, _ := wire.Number(d, i)
			p.found.live = append(p.found.live, course.Sample{At: e.at, Value: v})
			continue
		}
		if turn := h.Turn(pick); turn != hop.Nowhere {
			w.turn = moment(turn)
		}
		if p.kinds[kind]&hop.Watch == 0 {
			p.look(e)
			continue
		}
		since, _ := wire.Number(d, e.pos+1)
		w.pos, w.at = e.pos, e.at-since
		p.long()
		p.watch(next.Pos())
	}
	if turn := h.Turn(next); turn != hop.Nowhere {
		w.turn = moment(turn)
	}
	if w.at, w.pos = begin+next.Time(), next.Pos(); w.at > farthest {
		p.fail(w.pos, errFarStamp)
	}
}

// watch reads event by event up to the next change of who runs, or to end, if that is to be looked at.
func (p *parser) watch(end int) {
	for p.walk.watch && !p.always && p.walk.pos < end && p.found.err == nil {
		p.long()
	}
}

// long reads one event, whatever its numbers.
func (p *parser) long() {
	w := &p.walk
	pos, kind := w.pos, p.data[w.pos]
	t := p.kinds[kind]
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
	for range t.Numbers() - 1 {
		_, next = wire.Number(p.data, next)
	}
	w.pos = next
	p.hear(place{w.at, pos}, kind == wire.GoBlock)
}

// hear takes note of an event, and looks at it if need be.
func (p *parser) hear(e place, matters bool) {
	t, w := p.kinds[p.data[e.pos]], &p.walk
	turns := t&hop.Turn != 0
	if t&hop.Picked != 0 || matters || turns && w.watch {
		p.look(e)
	}
	if turns {
		w.turn = e
	}
	w.watch = w.watch && !turns || t&hop.Watch != 0 || p.always
}

// look hears of a picked event, after the last change of who runs before it.
func (p *parser) look(e place) {
	if p.found.err != nil {
		return
	}
	if p.walk.turn.pos != p.seen {
		p.event(p.walk.turn)
	}
	p.event(e)
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
		p.begin(b, r, p.generation.load(b, p.data[p.start:]))
	}
	return true
}

// begin makes p ready for the events of b, which go into r. They are in the data, unless that failed by err.
func (p *parser) begin(b *batch, r *result, err error) {
	r.reset()
	r.live = slices.Grow(r.live, p.usual)
	p.batch, p.found, p.statusOf, p.seen = b, r, 0, -1
	p.walk = walk{pos: p.start, at: b.time, turn: place{pos: -1}, watch: true}
	p.end = p.start + b.end - b.start
	if r.err = err; err != nil {
		return
	}
	if b.time > farthest {
		p.fail(p.start, errFarStamp)
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
		p.event(p.walk.turn)
	}
	p.found.last, p.found.events, p.usual = p.walk.at, p.walk.events, len(p.found.live)
	if p.rules.scale != 1 {
		p.found.rescale(p.rules.scale)
	}
	p.batch = nil
}

// use makes p ready for the batches of a generation.
func (p *parser) use(g *parsed) {
	p.generation, p.rules, p.batch = g.generation, g.rules, nil
	p.always = p.rules.wanted != nil
}
