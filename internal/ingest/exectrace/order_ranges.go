package exectrace

import "github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"

// ranging drafts the event of c as one of a range.
func (o *order) ranging(c *cursor, kind EventKind, r RangeKind, subject int64) *Event {
	ev := o.event(c, kind)
	ev.Subject, ev.Range = subject, r
	return ev
}

// mark begins and ends mark phases. They are numbered, since that happens on
// any thread.
func (o *order) mark(c *cursor) (bool, error) {
	kind := [...]EventKind{wire.GCActive: EventRangeActive, wire.GCBegin: EventRangeBegin, wire.GCEnd: EventRangeEnd}[c.kind]
	begins := c.kind != wire.GCEnd
	number := c.args[0]
	first := c.kind == wire.GCBegin && o.marking == Undetermined || c.kind == wire.GCActive && o.generation == o.initial
	switch {
	case first && o.marking != Undetermined:
		return true, errCycle
	case first:
	case number != o.cycle+1:
		return false, nil
	case c.kind == wire.GCBegin && o.marking == Running, c.kind != wire.GCBegin && o.marking != Running:
		return true, errCycle
	case !c.on.onGoroutine():
		return true, errNoPlace
	}
	o.cycle, o.marking = number, Idle
	if begins {
		o.marking = Running
	}
	ev := o.ranging(c, kind, RangeMark, None)
	if c.kind == wire.GCBegin {
		var err error
		if ev.Stack, err = o.stack(c.args[1]); err != nil {
			return true, err
		}
	}
	o.out.emit(ev)
	return true, nil
}

// sweep begins and ends the sweeping of a proc.
func (o *order) sweep(c *cursor) error {
	p := c.on.proc
	if c.kind == wire.GCSweepActive {
		p = o.procs[c.args[0]]
		switch {
		case p == nil:
			return errUnborn
		case within(p.ranges, RangeSweep, 0) == (o.generation == o.initial):
			return errRangeTwice
		case o.generation == o.initial:
			p.ranges = append(p.ranges, openRange{kind: RangeSweep})
		}
		o.out.emit(o.ranging(c, EventRangeActive, RangeSweep, p.id))
		return nil
	}
	if !c.on.onProc() {
		return errNoPlace
	}
	if c.kind == wire.GCSweepEnd {
		if _, ok := leaveRange(&p.ranges, RangeSweep); !ok {
			return errRangeEnded
		}
		ev := o.ranging(c, EventRangeEnd, RangeSweep, p.id)
		ev.Value = c.args[0]
		o.out.emit(ev)
		return nil
	}
	if within(p.ranges, RangeSweep, 0) {
		return errRangeTwice
	}
	p.ranges = append(p.ranges, openRange{kind: RangeSweep})
	ev := o.ranging(c, EventRangeBegin, RangeSweep, p.id)
	var err error
	if ev.Stack, err = o.stack(c.args[0]); err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}

// goroutineRange begins and ends assists and stops of the world.
func (o *order) goroutineRange(c *cursor) error {
	if !c.on.onGoroutine() {
		return errNoPlace
	}
	s := o.current(c.on)
	if s == nil {
		return errUnborn
	}
	r := openRange{kind: RangeAssist}
	if c.kind == wire.STWBegin || c.kind == wire.STWEnd {
		r.kind = RangeStop
	}
	if c.kind == wire.STWEnd || c.kind == wire.GCMarkAssistEnd {
		var ok bool
		if r, ok = leaveRange(&s.ranges, r.kind); !ok {
			return errRangeEnded
		}
		ev := o.ranging(c, EventRangeEnd, r.kind, s.id)
		ev.Text = o.reason(r)
		o.out.emit(ev)
		return nil
	}
	ev := o.ranging(c, EventRangeBegin, r.kind, s.id)
	stack := c.args[0]
	if r.kind == RangeStop {
		var err error
		if ev.Text, err = o.text(c.args[0]); err != nil {
			return err
		}
		r.number, r.reason, stack = c.args[0], o.out.names.texts[ev.Text], c.args[1]
	}
	if within(s.ranges, r.kind, r.number) {
		return errRangeTwice
	}
	s.ranges = append(s.ranges, r)
	var err error
	if ev.Stack, err = o.stack(stack); err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}

// reason returns the text of why a range began.
func (o *order) reason(r openRange) Text {
	t, ok := o.out.names.textOf.Find(r.number)
	if ok && o.out.names.texts[t] == r.reason {
		return Text(t)
	}
	return o.out.late(r.reason)
}

// assistActive hears that a goroutine, running or not, is in an assist.
func (o *order) assistActive(c *cursor) error {
	s := o.goroutines.Find(int64(c.args[0]))
	switch {
	case s == nil:
		return errUnborn
	case within(s.ranges, RangeAssist, 0) == (o.generation == o.initial):
		return errRangeTwice
	case o.generation == o.initial:
		s.ranges = append(s.ranges, openRange{kind: RangeAssist})
	}
	o.out.emit(o.ranging(c, EventRangeActive, RangeAssist, s.id))
	return nil
}

// task begins and ends tasks. They need not begin in the trace, and may end
// more than once.
func (o *order) task(c *cursor) error {
	if !c.on.onGoroutine() {
		return errNoPlace
	}
	id := c.args[0]
	ev := o.event(c, EventTaskEnd)
	ev.Subject, ev.Value = int64(id), noTask
	open := o.tasks.Find(int64(id))
	stack := c.args[1]
	if c.kind == wire.UserTaskBegin {
		if open != nil {
			return errTaskTwice
		}
		var err error
		if ev.Text, err = o.text(c.args[2]); err != nil {
			return err
		}
		if ev.Kind = EventTaskBegin; c.args[1] != 0 { // 0 is the background
			ev.Value = c.args[1]
		}
		o.tasks.begin(int64(id), openTask{o.out.names.texts[ev.Text], ev.Value})
		stack = c.args[3]
	} else if open != nil {
		ev.Text, ev.Value = o.out.late(open.name), open.parent
		o.tasks.end(int64(id), open)
	}
	var err error
	if ev.Stack, err = o.stack(stack); err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}

// region begins and ends regions, which nest.
func (o *order) region(c *cursor) error {
	if !c.on.onGoroutine() {
		return errNoPlace
	}
	s := o.current(c.on)
	if s == nil {
		return errUnborn
	}
	ev := o.event(c, EventRegionBegin)
	ev.Subject = int64(c.args[0])
	var err error
	if ev.Text, err = o.text(c.args[1]); err != nil {
		return err
	}
	r := openRegion{c.args[0], o.out.names.texts[ev.Text]}
	last := len(s.regions) - 1
	switch {
	case c.kind == wire.UserRegionBegin:
		s.regions = append(s.regions, r)
	case last >= 0 && s.regions[last] != r:
		return errRegion
	case last >= 0:
		s.regions[last] = openRegion{}
		s.regions = s.regions[:last]
	}
	if c.kind == wire.UserRegionEnd {
		ev.Kind = EventRegionEnd
	}
	if ev.Stack, err = o.stack(c.args[2]); err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}

// metric hears of the heap.
func (o *order) metric(c *cursor) error {
	if !c.on.onProc() {
		return errNoPlace
	}
	if o.out.kinds>>EventMetric&1 == 0 {
		o.out.pass(c.time)
		return nil
	}
	ev := o.event(c, EventMetric)
	ev.Subject, ev.Value = MetricHeapLive, c.args[0]
	if c.kind == wire.HeapGoal {
		ev.Subject = MetricHeapGoal
	}
	o.out.emit(ev)
	return nil
}

// annotation hears what changes no state.
func (o *order) annotation(c *cursor) error {
	if !c.on.onGoroutine() {
		return errNoPlace
	}
	var err error
	var more Text
	ev := o.event(c, EventMetric)
	switch c.kind {
	case wire.ProcsChange:
		ev.Subject, ev.Value = MetricProcs, c.args[0]
		ev.Stack, err = o.stack(c.args[1])
	case wire.GoLabel:
		ev.Kind, ev.Subject = EventLabel, c.on.goroutine
		ev.Text, err = o.text(c.args[0])
	case wire.UserLog:
		ev.Kind, ev.Subject = EventLog, int64(c.args[0])
		if ev.Text, err = o.text(c.args[1]); err == nil {
			more, err = o.text(c.args[2])
			ev.Value = uint64(more)
		}
		if err == nil {
			ev.Stack, err = o.stack(c.args[3])
		}
	}
	if err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}
