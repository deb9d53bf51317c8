package exectrace

import (
	"errors"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/course"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/hop"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// result is what a batch comes to by itself. Until the thread is seen to
// change its goroutine, what it does belongs to a leg that began in an earlier
// batch; these events are kept as they are, for the one who knows the thread.
type result struct {
	found
	before []op   // events of the leg that began earlier
	known  bool   // the thread changed its goroutine
	after  thread // its state at the end, where known; spans only if touched

	events      int
	first, last stamp
	cycles      []cycleEvent
	live, goals []course.Sample
	err         error
}

func (r *result) reset() {
	r.found.reset()
	*r = result{found: r.found, before: r.before[:0], cycles: r.cycles[:0], live: r.live[:0], goals: r.goals[:0]}
}

// rescale multiplies all stamps. The runtime's clock keeps its speed, but the
// format gives it anew in each generation.
func (r *result) rescale(k float64) {
	stamps := []*stamp{
		&r.first, &r.last, &r.after.start, &r.after.assist, &r.after.work, &r.after.sweep.start, &r.after.stop.start,
	}
	for i := range r.before {
		stamps = append(stamps, &r.before[i].at)
	}
	for i := range r.pieces {
		stamps = append(stamps, &r.pieces[i].start, &r.pieces[i].end)
	}
	for i := range r.works {
		stamps = append(stamps, &r.works[i].start, &r.works[i].end)
	}
	for i := range r.sweeps {
		stamps = append(stamps, &r.sweeps[i].time)
	}
	for i := range r.stops {
		stamps = append(stamps, &r.stops[i].start, &r.stops[i].end)
	}
	for i := range r.cycles {
		stamps = append(stamps, &r.cycles[i].at)
	}
	for _, samples := range [][]course.Sample{r.live, r.goals} {
		for i := range samples {
			stamps = append(stamps, &samples[i].At)
		}
	}
	for _, s := range stamps {
		*s = stamp(min(float64(*s)*k, float64(farthest)))
	}
}

// op is an event of a leg that began in an earlier batch, or the end of a span
// that did.
type op struct {
	at     stamp
	kind   byte
	why    why
	a, b   uint64 // depending on the kind
	offset int64  // in the file

	// The end of a span that began before the goroutine did that ends it.
	late      bool
	goroutine uint64
}

var (
	errCutEvent = errors.New("an event is longer than its batch, or a number in it than 64 bits")
	errFarStamp = errors.New("a time that lies centuries ahead")
)

// farthest is the greatest stamp that a trace may have: three centuries at the
// usual 15.6 MHz, and sums of such stamps do not overflow.
const farthest stamp = 1 << 57

// parser reads batches of events; one worker has one.
type parser struct {
	kinds      *[256]hop.Kind
	batch      *batch // nil for none
	walk       walk
	generation *generation
	data       []byte // of the batch, and of those that other parsers read
	start, end int    // of the batch in data
	rules      *rules
	always     bool // each change of who runs is to be looked at
	found      *result
	usual      int    // samples of the live heap in a batch
	seen       int    // position of the last change of who runs that was seen, or -1
	pos        int    // of the event that is being read, in data
	statusOf   uint64 // goroutine of the last status event …
	lastStatus uint8  // … and what it was
}

// fail keeps the first error, with its position.
func (p *parser) fail(pos int, err error) {
	if p.found.err == nil {
		p.found.err = &Error{Offset: p.offset(pos), Reason: err.Error()}
	}
}

// offset is where in the file a byte of the data is.
func (p *parser) offset(pos int) int64 {
	return p.generation.offset + int64(p.batch.start+pos-p.start)
}

// event reads an event that a scan looks at, after those before it.
func (p *parser) event(e place) {
	d, at, kind := p.data, e.at, p.data[e.pos]
	p.pos = e.pos
	_, i := wire.Number(d, e.pos+1)
	if p.kinds[kind]&hop.Turn != 0 {
		p.seen = e.pos
	}
	var a, b uint64
	switch kind {
	case wire.GoStart:
		a, i = wire.Number(d, i)
		b, _ = wire.Number(d, i)
		if p.found.after.flags&bound != 0 { // only in a broken trace; the leg ends here
			p.leave(exit{at, whyGone, 0})
		}
		p.found.known = true
		p.found.after.run(at, a, b)
	case wire.GoBlock, wire.GoStop:
		a, _ = wire.Number(d, i)
		w := whyBlocked
		if kind == wire.GoStop {
			w = whyStopped
		}
		p.leave(exit{at, w, a})
	case wire.GoDestroy, wire.GoDestroySyscall, wire.GoSyscallEndBlocked:
		p.leave(exit{at, whyGone, 0})
	case wire.GoSwitch, wire.GoSwitchDestroy:
		a, i = wire.Number(d, i)
		b, _ = wire.Number(d, i)
		p.leave(exit{at, whyGone, 0})
		p.found.after.run(at, a, b)
	case wire.GoCreateSyscall:
		a, _ = wire.Number(d, i)
		p.leave(exit{at, whyGone, 0})
		p.found.after.run(at, a, 0)
	case wire.GCSweepBegin, wire.GCSweepEnd:
		p.sweep(kind, at, i)
	default:
		p.rare(kind, at, i)
	}
}

// sweep is event for sweeping, of which there is much.
func (p *parser) sweep(kind byte, at stamp, i int) {
	d := p.data
	s := &p.found.after.sweep
	switch {
	case p.found.known && kind == wire.GCSweepBegin && !s.open:
		*s = span{open: true, touched: true, start: at}
	case p.found.known && kind == wire.GCSweepEnd && s.open:
		var swept, reclaimed uint64
		swept, i = wire.Number(d, i)
		reclaimed, _ = wire.Number(d, i)
		p.found.sweep(sweepPiece{p.found.after.running(), 1, elapsed(s.start, at), swept, reclaimed})
		s.open = false
	default:
		p.rare(kind, at, i)
	}
}

// rare is event for the kinds that are rare.
func (p *parser) rare(kind byte, at stamp, i int) {
	d := p.data
	var args [4]uint64
	for k := range p.kinds[kind].Numbers() - 1 {
		args[k&3], i = wire.Number(d, i)
	}
	o := op{at: at, kind: kind, a: args[0], b: args[1], offset: p.offset(p.pos)}
	switch kind {
	case wire.GoStatus, wire.GoStatusStack:
		p.statusOf, p.lastStatus = args[0], uint8(min(args[2], 255))
		if !(args[2] == wire.StatusRunning || args[2] == wire.StatusSyscall && args[1] == p.batch.thread) {
			return
		}
	case wire.GCBegin, wire.GCEnd, wire.GCActive:
		p.found.cycles = append(p.found.cycles, cycleEvent{at, args[0], kind})
		return
	case wire.HeapAlloc:
		p.found.live = append(p.found.live, course.Sample{At: at, Value: args[0]})
		return
	case wire.HeapGoal:
		p.found.goals = append(p.found.goals, course.Sample{At: at, Value: args[0]})
		return
	case wire.GCMarkAssistActive:
		if o.b = 0; p.statusOf == args[0] {
			o.b = uint64(p.lastStatus)
		}
	}
	p.do(o)
}

// do applies o to the thread, or keeps it where the thread is not known.
func (p *parser) do(o op) {
	if !p.found.known {
		p.found.before = append(p.found.before, o)
		return
	}
	switch o.kind {
	case wire.GCSweepEnd, wire.STWEnd:
		if s := p.found.after.span(o.kind); !s.open && !s.touched {
			o.late, o.goroutine = true, p.found.after.running()
			s.touched = true
			p.found.before = append(p.found.before, o)
			return
		}
	}
	if err := o.apply(&p.found.after, p.rules, &p.found.found); err != nil {
		p.fail(p.pos, err)
	}
}

// leave ends the leg that runs here.
func (p *parser) leave(e exit) {
	if !p.found.known {
		p.found.known = true
		p.found.before = append(p.found.before, op{at: e.at, kind: wire.GoBlock, why: e.why, a: e.reason, offset: p.offset(p.pos)})
		return
	}
	p.found.after.leave(e, p.rules, &p.found.found)
}

// span returns the span that an event of this kind is about.
func (t *thread) span(kind byte) *span {
	if kind == wire.STWBegin || kind == wire.STWEnd {
		return &t.stop
	}
	return &t.sweep
}

// apply does to a thread what the event says.
func (o *op) apply(t *thread, r *rules, f *found) error {
	switch o.kind {
	case wire.GoBlock:
		t.leave(exit{o.at, o.why, o.a}, r, f)
	case wire.GoStatus, wire.GoStatusStack:
		t.status(o.at, o.a)
	case wire.GCMarkAssistBegin:
		return t.assistBegin(o.at)
	case wire.GCMarkAssistEnd:
		return t.assistEnd(o.at, f)
	case wire.GCMarkAssistActive:
		t.assistActive(o.at, o.a, uint8(o.b), f)
	case wire.GoLabel:
		t.label(o.at, o.a, r, f)
	case wire.GCSweepActive:
		if !t.sweep.open {
			return t.sweep.begin(o.at, 0)
		}
	case wire.GCSweepBegin:
		return t.sweep.begin(o.at, 0)
	case wire.STWBegin:
		return t.stop.begin(o.at, o.a)
	case wire.GCSweepEnd:
		start, err := t.sweep.end()
		f.sweep(sweepPiece{o.runner(t), 1, elapsed(start, o.at), o.a, o.b})
		return err
	case wire.STWEnd:
		reason := t.stop.reason
		start, err := t.stop.end()
		f.stops = append(f.stops, stopPiece{goroutine: o.runner(t), start: start, end: o.at, reason: reason})
		return err
	}
	return nil
}

// runner returns the goroutine that o happens on.
func (o *op) runner(t *thread) uint64 {
	if o.late {
		return o.goroutine
	}
	return t.running()
}
