package exectrace

import "github.com/heaptrim/heaptrim/internal/ingest/exectrace/relay"

// outlet hands events on.
type outlet struct {
	kinds Kinds
	visit func(*Event, *Names)
	last  int64 // time of the event before
	next  Event
	names Names
	relay *relay.Relay[Event, Names] // to a visitor on another goroutine; nil for one on this
	kept  int                        // late names that the relay's events have
}

// pass makes times differ: two clocks may show the same, or not agree. It
// returns the time of the next event, which is t at least.
func (o *outlet) pass(t int64) int64 {
	o.last = max(t, o.last+1)
	return o.last
}

// emit hands the next event on, if it is of a kind that is wanted.
func (o *outlet) emit(next *Event) {
	next.Time = o.pass(next.Time)
	wanted := o.kinds>>next.Kind&1 != 0
	if o.relay != nil {
		if wanted {
			o.hand(next)
		}
		o.names.late = o.names.late[:o.kept]
		return
	}
	if wanted {
		o.visit(next, &o.names)
	}
	if len(o.names.late) > 0 {
		clear(o.names.late)
		o.names.late = o.names.late[:0]
	}
}

// late returns the number of a string that need not be in the generation.
func (o *outlet) late(s string) Text {
	if s == "" {
		return 0
	}
	o.names.late = append(o.names.late, s)
	return lateText + Text(len(o.names.late)-1)
}

// hand gives an event to the relay.
func (o *outlet) hand(next *Event) {
	full := o.relay.Add(next)
	if o.kept = len(o.names.late); full {
		o.flush()
	}
}

// flush hands on what the relay has, with the late names, which are then gathered anew.
func (o *outlet) flush() {
	o.relay.Flush(func(n *Names) {
		n.names = o.names.names
		n.late, o.names.late, o.kept = o.names.late, n.late, 0
	})
}

// rename gives the numbers in later events the names of their generation.
func (o *outlet) rename(n *names) {
	if o.relay != nil {
		o.flush()
	}
	o.names.names = n
}
