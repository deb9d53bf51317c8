package exectrace

import (
	"errors"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/table"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// order tells which event may happen next. It plays the scheduler: an event
// can happen when the states that it leads on from are there. Only then does it
// change them, and hand the event on.
//
// The rules are those of the runtime's tracer: a goroutine or proc has a number
// that grows with each change that may come from any thread, anew in each
// generation, which begins with the states of all that take part in it.
type order struct {
	out                 outlet
	initial, generation uint64 // generations
	goroutines          goroutineStates
	procs               map[uint64]*procState
	carriers            map[int64]*carrier
	tasks               openTasks
	cycle               uint64 // the last event of a collection
	marking             State  // Undetermined, Running or Idle
	nowhere             carrier
}

// openTask is a task that has begun and not ended.
type openTask struct {
	name   string
	parent uint64
}

// openTasks finds open tasks by their IDs.
type openTasks struct {
	table.Table[openTask]
	ended []*openTask // to use again
}

// begin adds a task.
func (t *openTasks) begin(id int64, task openTask) {
	var open *openTask
	if last := len(t.ended) - 1; last >= 0 {
		open, t.ended = t.ended[last], t.ended[:last]
	} else {
		open = &openTask{}
	}
	*open = task
	t.Add(id, open)
}

// end forgets a task.
func (t *openTasks) end(id int64, task *openTask) {
	t.Drop(id)
	t.ended = append(t.ended, task)
}

func newOrder(o outlet) *order {
	return &order{
		out: o, procs: map[uint64]*procState{}, carriers: map[int64]*carrier{},
		nowhere: carrier{id: None, goroutine: None},
	}
}

// carrier returns the thread of an ID.
func (o *order) carrier(id int64) *carrier {
	if id == None {
		return &o.nowhere
	}
	c := o.carriers[id]
	if c == nil {
		c = &carrier{id: id, goroutine: None}
		o.carriers[id] = c
	}
	return c
}

// What may be wrong with an event.
var (
	errNoPlace    = errors.New("an event comes from a thread without what it needs: a thread, a proc or a goroutine")
	errPlaceTaken = errors.New("a goroutine starts where one runs already")
	errState      = errors.New("a goroutine or proc is not in the state that an event says")
	errUnborn     = errors.New("an event is about a goroutine or proc that was not heard of before")
	errBornTwice  = errors.New("a goroutine is created that there is already")
	errNoName     = errors.New("an event refers to a string or a stack that its generation does not have")
	errFarID      = errors.New("the number of a goroutine or proc is out of range")
	errRangeTwice = errors.New("a range of the collector begins inside another of its kind")
	errRangeEnded = errors.New("a range of the collector ends or goes on that never began")
	errCycle      = errors.New("a mark phase begins inside another, or ends none")
	errTaskTwice  = errors.New("a task begins that has begun already")
	errRegion     = errors.New("a region ends that is not the innermost one")
	errSteal      = errors.New("a proc is stolen from a thread that does not have it")
	errSequence   = errors.New("a system call does not follow the last change of its proc")
	errStuck      = errors.New("the events of all threads wait for others that do not come")
	errThread     = errors.New("a goroutine is in a system call on a thread that has another, or none")
)

// advance lets c's event happen, unless it is not its turn.
func (o *order) advance(c *cursor) (bool, error) {
	if o.initial == 0 {
		o.initial = o.generation
	}
	c.on.seen = true
	switch c.kind {
	case wire.HeapAlloc, wire.HeapGoal:
		return true, o.metric(c)
	case wire.GoStart:
		return o.start(c)
	case wire.GoUnblock:
		return o.unblock(c)
	case wire.GoBlock, wire.GoStop, wire.GoDestroy:
		return true, o.stop(c)
	case wire.UserRegionBegin, wire.UserRegionEnd:
		return true, o.region(c)
	case wire.UserTaskBegin, wire.UserTaskEnd:
		return true, o.task(c)
	case wire.GCSweepBegin, wire.GCSweepEnd, wire.GCSweepActive:
		return true, o.sweep(c)
	case wire.GCMarkAssistBegin, wire.GCMarkAssistEnd, wire.STWBegin, wire.STWEnd:
		return true, o.goroutineRange(c)
	case wire.GCMarkAssistActive:
		return true, o.assistActive(c)
	case wire.GoSyscallBegin:
		return true, o.syscallBegin(c)
	case wire.GoSyscallEnd:
		return true, o.syscallEnd(c)
	case wire.GoSyscallEndBlocked:
		return o.syscallEndBlocked(c)
	case wire.GoCreate, wire.GoCreateBlocked:
		return true, o.create(c)
	case wire.GoStatus, wire.GoStatusStack:
		return true, o.goroutineStatus(c)
	default:
		return o.advanceRare(c)
	}
}

func (o *order) advanceRare(c *cursor) (bool, error) {
	switch c.kind {
	case wire.ProcStart:
		return o.procStart(c)
	case wire.ProcStop:
		return true, o.procStop(c)
	case wire.ProcSteal:
		return o.procSteal(c)
	case wire.ProcStatus:
		return true, o.procStatus(c)
	case wire.GoSwitch, wire.GoSwitchDestroy:
		return o.switchTo(c)
	case wire.GoCreateSyscall:
		return true, o.createSyscall(c)
	case wire.GoDestroySyscall:
		return true, o.destroySyscall(c)
	case wire.GCActive, wire.GCBegin, wire.GCEnd:
		return o.mark(c)
	case wire.ProcsChange, wire.GoLabel, wire.UserLog:
		return true, o.annotation(c)
	}
	if c.kind >= wire.ExperimentFirst && c.kind <= wire.ExperimentLast {
		if c.on.id == None {
			return true, errNoPlace
		}
		o.out.emit(o.event(c, EventExperimental))
		return true, nil
	}
	return true, errors.New("an event of the clock among those of a thread")
}

// current returns the state of the goroutine on c, or nil.
func (o *order) current(c *carrier) *goroutineState {
	switch s := c.last; {
	case c.goroutine == None:
		return nil
	case s != nil && s.id == c.goroutine:
		return s
	}
	return o.goroutines.Find(c.goroutine)
}

// onGoroutine reports whether c has a goroutine and a proc.
func (c *carrier) onGoroutine() bool { return c.proc != nil && c.goroutine != None && c.id != None }

// onProc reports whether c has a proc.
func (c *carrier) onProc() bool { return c.proc != nil && c.id != None }

// bind lets a goroutine run on c.
func (c *carrier) bind(s *goroutineState) {
	if c.id != None {
		c.goroutine, c.last = s.id, s
	}
}

// text returns the number of string id.
func (o *order) text(id uint64) (Text, error) {
	n, ok := o.out.names.textOf.Find(id)
	if !ok {
		return 0, errNoName
	}
	return Text(n), nil
}

// stack returns the number of stack id.
func (o *order) stack(id uint64) (Stack, error) {
	n, ok := o.out.names.stackOf.Find(id)
	if !ok {
		return 0, errNoName
	}
	return Stack(n), nil
}

// event drafts the event of c, as far as all kinds have it.
func (o *order) event(c *cursor, kind EventKind) *Event {
	ev := &o.out.next
	*ev = Event{Time: c.time, Goroutine: c.on.goroutine, Thread: c.on.id, Kind: kind}
	return ev
}

// changes drafts the event of c as a change of a goroutine.
func (o *order) changes(c *cursor, subject int64, from, to State) *Event {
	ev := &o.out.next
	*ev = Event{Time: c.time, Goroutine: c.on.goroutine, Thread: c.on.id, Subject: subject, Kind: EventGoroutine, From: from, To: to}
	return ev
}
