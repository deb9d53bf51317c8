package exectrace

import "errors"

// stamp is a moment on the clock of the trace, in its own units.
type stamp = uint64

// thread is what a thread of the program is doing, as far as memory management
// goes. A goroutine's stay on a thread is a leg; its legs have numbers that
// grow, which puts them in order without looking at clocks.
type thread struct {
	flags     flags
	goroutine uint64
	leg       uint64 // number of the leg, in the generation
	start     stamp  // of the leg
	assist    stamp  // since when the goroutine has been assisting in this leg
	work      stamp  // since when it has been a mark worker
	mode      workerMode

	sweep, stop span
	stopName    string // reason of a stop that began in an earlier generation; its number is carried
}

// carried stands for the number of a string of an earlier generation.
const carried = ^uint64(0)

type flags uint8

const (
	bound     flags = 1 << iota // a goroutine runs here
	assisting                   // … and assists
	assisted                    // … and began or ended an assist in this leg
	begun                       // the open assist began in this leg
	working                     // … as a mark worker
	stated                      // the leg began before the trace did
)

type workerMode uint8

const (
	noWorker workerMode = iota
	dedicatedWorker
	fractionalWorker
	idleWorker
)

// span is a range on a thread that goes on while its goroutine stays.
type span struct {
	open    bool
	touched bool // it was opened or closed since the batch began
	start   stamp
	reason  uint64 // string in the generation where the span began
}

// why a leg ended.
type why uint8

const (
	whyBlocked why = iota
	whyStopped     // preempted, or yielded
	whyGone        // ended, or was in a system call, or handed its thread over
)

// pieceKind says what a piece is of an assist.
type pieceKind uint8

const (
	// The order is that within a leg.
	pieceActive pieceKind = iota // not running, but in an assist, when the generation began
	pieceTail                    // from the beginning of a leg, or where it became known, to the end of the assist
	pieceMiddle                  // a whole leg; part of an assist if one is open
	pieceHead                    // from the beginning of the assist to the end of the leg
	pieceWhole                   // from the beginning to the end of the assist
)

// piece is a part of an assist on one thread.
type piece struct {
	goroutine  uint64
	leg        uint64
	start, end stamp
	kind       pieceKind
	sure       bool // the assist is known to be open before the piece, whatever else there is
	why        why
	status     uint8 // of an active piece, 0 where it is not known
}

// What is found in a batch besides pieces of assists.
type (
	workPiece struct {
		mode       workerMode
		start, end stamp
	}
	sweepPiece struct {
		goroutine        uint64
		count            int
		time             stamp
		swept, reclaimed uint64
	}
	stopPiece struct {
		goroutine  uint64
		start, end stamp
		reason     uint64 // string of the generation, or carried
		name       string // of the reason, once it is looked up
	}
	cycleEvent struct {
		at       stamp
		sequence uint64
		kind     byte
	}
)

// found is what a batch, or a thread's first leg in it, comes to.
type found struct {
	pieces []piece
	works  []workPiece
	sweeps []sweepPiece
	recent [64]int // where in sweeps some goroutines are, probably
	stops  []stopPiece
}

func (f *found) reset() {
	f.pieces, f.works, f.sweeps, f.stops = f.pieces[:0], f.works[:0], f.sweeps[:0], f.stops[:0]
}

// sweep adds what a goroutine has swept; most sweep many times.
func (f *found) sweep(s sweepPiece) {
	recent := &f.recent[s.goroutine%uint64(len(f.recent))]
	if i := *recent; i < len(f.sweeps) && f.sweeps[i].goroutine == s.goroutine {
		last := &f.sweeps[i]
		last.count += s.count
		last.time += s.time
		last.swept += s.swept
		last.reclaimed += s.reclaimed
		return
	}
	*recent = len(f.sweeps)
	f.sweeps = append(f.sweeps, s)
}

// elapsed is the time from one moment to another; clocks of threads may differ a
// little, and then it is 0.
func elapsed(from, to stamp) stamp { return to - min(from, to) }

// rules are what decides whether a leg may be part of an assist.
type rules struct {
	*tables
	wanted map[uint64]bool // goroutines of which every leg is to be told
}

var (
	errNoGoroutine   = errors.New("an assist on a thread that runs no goroutine")
	errAssistTwice   = errors.New("an assist begins inside another")
	errAssistEnded   = errors.New("an assist ends that never began")
	errSpanTwice     = errors.New("a sweep or a stop of the world begins inside another")
	errSpanEnded     = errors.New("a sweep or a stop of the world ends that never began")
	errAssistUnknown = errors.New("a generation knows of an assist that those before did not")
)

// run begins a leg.
func (t *thread) run(at stamp, goroutine, leg uint64) {
	t.flags, t.goroutine, t.leg, t.start = bound, goroutine, leg, at
}

// status hears that goroutine is running here.
func (t *thread) status(at stamp, goroutine uint64) {
	if t.flags&bound != 0 && t.goroutine == goroutine {
		t.leg = 0 // legs are counted anew in each generation
		return
	}
	t.run(at, goroutine, 0)
	t.flags |= stated
}

// exit is how a leg ends.
type exit struct {
	at     stamp
	why    why
	reason uint64 // string that says what the goroutine waits for, or 0
}

// leave ends the leg.
func (t *thread) leave(e exit, r *rules, f *found) {
	if t.flags&bound == 0 {
		return
	}
	parked := e.why == whyBlocked && e.reason == r.assistWait && e.reason != 0
	if t.flags&assisting != 0 || t.flags&assisted == 0 && (parked || r.wanted != nil && r.wanted[t.goroutine]) {
		f.pieces = append(f.pieces, t.left(e))
	}
	if t.flags&working != 0 {
		f.works = append(f.works, workPiece{t.mode, t.work, e.at})
	}
	t.flags = 0
}

// left is the leg, or what the goroutine has been assisting of it, at its end.
func (t *thread) left(e exit) piece {
	p := piece{goroutine: t.goroutine, leg: t.leg, start: t.start, end: e.at, kind: pieceMiddle, why: e.why}
	if t.flags&assisting != 0 {
		p.start, p.sure = t.assist, true
		if t.flags&begun != 0 {
			p.kind = pieceHead
		}
	}
	return p
}

func (t *thread) assistBegin(at stamp) error {
	switch {
	case t.flags&bound == 0:
		return errNoGoroutine
	case t.flags&assisting != 0:
		return errAssistTwice
	}
	t.assist = at
	t.flags |= assisting | assisted | begun
	return nil
}

func (t *thread) assistEnd(at stamp, f *found) error {
	p := piece{goroutine: t.goroutine, leg: t.leg, start: t.assist, end: at, kind: pieceTail, sure: t.flags&assisting != 0}
	switch {
	case t.flags&bound == 0:
		return errNoGoroutine
	case t.flags&begun != 0:
		p.kind = pieceWhole
	case t.flags&assisting != 0:
	case t.flags&assisted != 0:
		return errAssistEnded
	default:
		p.start = t.start
	}
	f.pieces = append(f.pieces, p)
	t.flags = t.flags&^(assisting|begun) | assisted
	return nil
}

// assistActive hears, in a new generation, that goroutine is in an assist.
// What its status is says how many legs come next.
func (t *thread) assistActive(at stamp, goroutine uint64, status uint8, f *found) {
	if t.flags&bound == 0 || t.goroutine != goroutine {
		f.pieces = append(f.pieces, piece{goroutine: goroutine, start: at, end: at, kind: pieceActive, status: status})
		return
	}
	if t.flags&assisting == 0 {
		if t.assist = t.start; t.flags&stated != 0 {
			t.assist = at
		}
		t.flags |= assisting | assisted
	}
}

// label hears what the goroutine is called from now on.
func (t *thread) label(at stamp, name uint64, r *rules, f *found) {
	if t.flags&bound == 0 {
		return
	}
	if t.flags&working != 0 {
		f.works = append(f.works, workPiece{t.mode, t.work, at})
		t.flags &^= working
	}
	mode := noWorker
	switch {
	case name == 0:
	case name == r.dedicated:
		mode = dedicatedWorker
	case name == r.fractional:
		mode = fractionalWorker
	case name == r.idle:
		mode = idleWorker
	}
	if mode != noWorker {
		t.mode, t.work = mode, at
		t.flags |= working
	}
}

// running returns the goroutine here, or 0.
func (t *thread) running() uint64 {
	if t.flags&bound == 0 {
		return 0
	}
	return t.goroutine
}

func (s *span) begin(at stamp, reason uint64) error {
	if s.open {
		return errSpanTwice
	}
	*s = span{open: true, touched: true, start: at, reason: reason}
	return nil
}

// end closes the span and returns when it began.
func (s *span) end() (stamp, error) {
	if !s.open {
		return 0, errSpanEnded
	}
	s.open, s.touched = false, true
	return s.start, nil
}
