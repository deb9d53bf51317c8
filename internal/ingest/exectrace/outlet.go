package exectrace

// bunch is events that change hands at once. Who gets it has it alone.
type bunch struct {
	events [1024]Event
	n      int // events so far
	names  Names
}

// outlet hands events on, in bunches.
type outlet struct {
	kinds   Kinds
	last    int64 // time of the event before
	names   *names
	bunch   *bunch
	full    chan<- *bunch
	empty   <-chan *bunch
	stop    <-chan struct{}
	stopped bool // nobody wants more
}

// pass makes times differ: two clocks may show the same, or not agree. It
// returns the time of the next event, which is t at least.
func (o *outlet) pass(t int64) int64 {
	o.last = max(t, o.last+1)
	return o.last
}

// draft is the place of the next event. It becomes one by emit.
func (o *outlet) draft() *Event { return &o.bunch.events[o.bunch.n] }

// emit hands the event of the draft on, if it is of a kind that is wanted.
func (o *outlet) emit(ev *Event) {
	ev.Time = o.pass(ev.Time)
	if o.kinds>>ev.Kind&1 == 0 {
		return
	}
	if o.bunch.n++; o.bunch.n == len(o.bunch.events) {
		o.hand()
	}
}

// hand hands the bunch on, and goes on with another.
func (o *outlet) hand() {
	if o.bunch.n > 0 && !o.stopped {
		select {
		case o.full <- o.bunch:
			select {
			case o.bunch = <-o.empty:
			case <-o.stop:
				o.stopped, o.bunch = true, &bunch{}
			}
		case <-o.stop:
			o.stopped = true
		}
	}
	b := o.bunch
	clear(b.names.late)
	b.n, b.names.late, b.names.names = 0, b.names.late[:0], o.names
}

// use says which names the next events are about.
func (o *outlet) use(n *names) {
	o.names = n
	o.hand()
}

// late returns the number of a string that need not be in the generation.
func (o *outlet) late(s string) Text {
	if s == "" {
		return 0
	}
	late := &o.bunch.names.late
	*late = append(*late, s)
	return lateText + Text(len(*late)-1)
}
