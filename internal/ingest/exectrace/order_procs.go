package exectrace

import "github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"

// procStates says as which state a proc's status counts.
var procStates = [...]State{0: Undetermined, wire.ProcRunning: Running, wire.ProcIdle: Idle, wire.ProcSyscall: Running, wire.ProcAbandoned: Idle}

// ofProc drafts the event of c as a change of a proc.
func (o *order) ofProc(c *cursor, p *procState, from, to State) *Event {
	ev := o.changes(c, p.id, from, to)
	ev.Kind = EventProc
	return ev
}

// procStart gives c a proc.
func (o *order) procStart(c *cursor) (bool, error) {
	p := o.procs[c.args[0]]
	if p == nil || p.status != wire.ProcIdle || !p.at.before(o.generation, c.args[1]) || c.on.proc != nil {
		return false, nil
	}
	if c.on.id == None {
		return true, errNoPlace
	}
	p.status, p.at.number = wire.ProcRunning, c.args[1]
	o.out.emit(o.ofProc(c, p, Idle, Running))
	c.on.proc = p
	return true, nil
}

// procStop takes the proc from c.
func (o *order) procStop(c *cursor) error {
	p := c.on.proc
	switch {
	case !c.on.onProc():
		return errNoPlace
	case p.status != wire.ProcRunning && p.status != wire.ProcSyscall:
		return errState
	}
	p.status, c.on.proc = wire.ProcIdle, nil
	o.out.emit(o.ofProc(c, p, Running, Idle))
	return nil
}

// procSteal takes a proc in a system call from any thread.
func (o *order) procSteal(c *cursor) (bool, error) {
	p := o.procs[c.args[0]]
	if p == nil || p.status != wire.ProcSyscall && p.status != wire.ProcAbandoned || !p.at.before(o.generation, c.args[1]) {
		return false, nil
	}
	if c.on.id == None {
		return true, errNoPlace
	}
	ev := o.ofProc(c, p, Running, Idle)
	abandoned := p.status == wire.ProcAbandoned
	p.status, p.at.number = wire.ProcIdle, c.args[1]
	if abandoned { // the thread may do something else by now
		ev.From = Idle
		o.out.emit(ev)
		return true, nil
	}
	from := c.on
	if thread := int64(c.args[2]); thread != c.on.id {
		from = o.carriers[thread]
	}
	if from == nil || !from.seen || from.proc != p {
		return true, errSteal
	}
	from.proc = nil
	o.out.emit(ev)
	return true, nil
}

// procStatus hears in which state a proc is.
func (o *order) procStatus(c *cursor) error {
	id, status := c.args[0], c.args[1]
	switch {
	case status >= uint64(len(procStates)):
		return errState
	case id >= 1<<63:
		return errFarID
	}
	p := o.procs[id]
	from, to := procStates[status], procStates[status]
	known := false // that it is stolen from a thread that is known
	switch {
	case p == nil:
		p = &procState{id: int64(id), status: uint8(status)}
		o.procs[id] = p
		if from = NotExist; o.generation == o.initial {
			from = Undetermined
		}
	case status == wire.ProcAbandoned && p.status == wire.ProcSyscall:
		from, to, known = Running, Running, true
	case uint64(p.status) != status:
		return errState
	}
	p.at = sequence{generation: o.generation}
	ev := o.ofProc(c, p, from, to)
	if known {
		holder := o.holder(p)
		if holder == nil {
			return errSteal
		}
		ev.Thread, ev.Goroutine = holder.id, holder.goroutine
	}
	if c.on.id != None && (status == wire.ProcRunning || status == wire.ProcSyscall) {
		c.on.proc = p
	}
	o.out.emit(ev)
	return nil
}

// holder returns the thread that has a proc, or nil.
func (o *order) holder(p *procState) *carrier {
	for _, c := range o.carriers {
		if c.seen && c.proc == p {
			return c
		}
	}
	return nil
}
