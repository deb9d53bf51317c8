package exectrace

// outlet hands events on.
type outlet struct {
	kinds Kinds
	visit func(*Event, *Names)
	last  int64 // time of the event before
	next  Event
	names Names
	relay *relay // to a visitor on another goroutine; nil for one on this
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
			o.relay.add(next, o)
		}
		o.names.late = o.names.late[:o.relay.late]
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

// rename changes what the numbers in events stand for.
func (o *outlet) rename(n *names) {
	if o.relay != nil {
		o.relay.flush(o)
	}
	o.names.names = n
}
