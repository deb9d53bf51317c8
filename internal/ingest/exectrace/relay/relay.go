// Package relay hands events to a visitor on another goroutine, in blocks: one by one it would cost more than it saves.
package relay

// Relay is from one goroutine to one other. E is an event, and N what the events of a block have in common.
type Relay[E, N any] struct {
	full, empty chan *block[E, N]
	block       *block[E, N] // that is being filled; nil before the first event
}

type block[E, N any] struct {
	events []E
	shared N
}

// size is how many events are handed over at once. Both sides wait for each other once a block: with a
// sixteenth of this, a visitor that does little costs more than it saves (lab/trace, channels).
const size = 8192

// New starts the goroutine, which ends in stop, after it has visited all events. It calls done when a block is over.
func New[E, N any](visit func(*E, *N), done func(*N)) (r *Relay[E, N], stop func()) {
	const blocks = 8
	r = &Relay[E, N]{full: make(chan *block[E, N], blocks), empty: make(chan *block[E, N], blocks)}
	for range blocks {
		r.empty <- &block[E, N]{events: make([]E, 0, size)}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for b := range r.full {
			for i := range b.events {
				visit(&b.events[i], &b.shared)
			}
			b.events = b.events[:0]
			done(&b.shared)
			r.empty <- b
		}
	}()
	return r, func() {
		close(r.full)
		<-ended
	}
}

// Add puts an event into the block, and reports whether that is full.
func (r *Relay[E, N]) Add(e *E) bool {
	if r.block == nil {
		r.block = <-r.empty
	}
	r.block.events = append(r.block.events, *e)
	return len(r.block.events) == size
}

// Flush hands the block over, if there is one; set says what its events have in common.
func (r *Relay[E, N]) Flush(set func(*N)) {
	if r.block == nil {
		return
	}
	set(&r.block.shared)
	r.full <- r.block
	r.block = nil
}
