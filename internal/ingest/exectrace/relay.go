package exectrace

// relay hands events to a visitor on another goroutine, in blocks: one by one it would cost more than
// it saves.
type relay struct {
	full, empty chan *block
	block       *block // that is being filled; nil before the first event
	late        int    // names of the outlet that events in it have
}

// block is a part of the sequence of events, and what their numbers stand for.
type block struct {
	events []Event
	names  Names
}

// blockSize is how many events are handed over at once. Both sides wait for each other once a block: with a
// sixteenth of this, a visitor that does little costs more than it saves (lab/trace, channels).
const blockSize = 8192

// newRelay starts the goroutine, which ends after stop.
func newRelay(visit func(*Event, *Names)) (r *relay, stop func()) {
	const blocks = 8
	r = &relay{full: make(chan *block, blocks), empty: make(chan *block, blocks)}
	for range blocks {
		r.empty <- &block{events: make([]Event, 0, blockSize)}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := range r.full {
			for i := range b.events {
				visit(&b.events[i], &b.names)
			}
			clear(b.names.late)
			b.events, b.names.late = b.events[:0], b.names.late[:0]
			r.empty <- b
		}
	}()
	return r, func() {
		close(r.full)
		<-done
	}
}

// add puts an event into the block; names are those of o.
func (r *relay) add(next *Event, o *outlet) {
	if r.block == nil {
		r.block = <-r.empty
	}
	r.block.events = append(r.block.events, *next)
	r.late = len(o.names.late)
	if len(r.block.events) == blockSize {
		r.flush(o)
	}
}

// flush hands the block over, with the late names, which the outlet then gathers anew.
func (r *relay) flush(o *outlet) {
	if r.block == nil {
		return
	}
	b := r.block
	b.names.names = o.names.names
	b.names.late, o.names.late = o.names.late, b.names.late
	r.full <- b
	r.block, r.late = nil, 0
}
