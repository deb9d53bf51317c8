package exectrace

import "github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"

// statusState says as which state a goroutine's status counts.
var statusState = [...]State{0: Undetermined, wire.StatusRunnable: Runnable, wire.StatusRunning: Running, wire.StatusSyscall: Syscall, wire.StatusWaiting: Waiting}

// start lets a goroutine run.
func (o *order) start(c *cursor) (bool, error) {
	s := o.goroutines.Find(int64(c.args[0]))
	if s == nil || s.status != wire.StatusRunnable || !s.at.before(o.generation, c.args[1]) {
		return false, nil
	}
	switch {
	case !c.on.onProc():
		return true, errNoPlace
	case c.on.goroutine != None:
		return true, errPlaceTaken
	}
	s.status, s.at.number = wire.StatusRunning, c.args[1]
	o.out.emit(o.changes(c, s.id, Runnable, Running))
	c.on.bind(s)
	return true, nil
}

// unblock lets a goroutine run again soon. Whoever does it need not be one.
func (o *order) unblock(c *cursor) (bool, error) {
	s := o.goroutines.Find(int64(c.args[0]))
	if s == nil || s.status != wire.StatusWaiting || !s.at.before(o.generation, c.args[1]) {
		return false, nil
	}
	s.status, s.at.number = wire.StatusRunnable, c.args[1]
	if _, err := o.stack(c.args[2]); err != nil {
		return true, err
	}
	o.out.emit(o.changes(c, s.id, Waiting, Runnable))
	return true, nil
}

// running returns the goroutine on c, which runs there.
func (o *order) running(c *cursor) (*goroutineState, error) {
	if !c.on.onGoroutine() {
		return nil, errNoPlace
	}
	s := o.current(c.on)
	switch {
	case s == nil:
		return nil, errUnborn
	case s.status != wire.StatusRunning:
		return nil, errState
	}
	return s, nil
}

// stop takes the goroutine from c, for a while or for good.
func (o *order) stop(c *cursor) error {
	s, err := o.running(c)
	if err != nil {
		return err
	}
	ev := o.changes(c, s.id, Running, NotExist)
	switch c.kind {
	case wire.GoBlock:
		s.status, ev.To = wire.StatusWaiting, Waiting
	case wire.GoStop:
		s.status, ev.To = wire.StatusRunnable, Runnable
	}
	if c.kind == wire.GoDestroy {
		o.goroutines.drop(s)
	} else {
		if ev.Text, err = o.text(c.args[0]); err != nil {
			return err
		}
		if ev.Stack, err = o.stack(c.args[1]); err != nil {
			return err
		}
	}
	c.on.goroutine = None
	o.out.emit(ev)
	return nil
}

// born makes a goroutine.
func (o *order) born(id uint64, status uint8) (*goroutineState, error) {
	switch {
	case id >= 1<<63:
		return nil, errFarID
	case o.goroutines.Find(int64(id)) != nil:
		return nil, errBornTwice
	}
	s := o.goroutines.add(int64(id))
	s.status, s.at = status, sequence{generation: o.generation}
	return s, nil
}

// create makes a goroutine that another one started.
func (o *order) create(c *cursor) error {
	if !c.on.onProc() {
		return errNoPlace
	}
	if s := o.current(c.on); s != nil && s.status != wire.StatusRunning {
		return errState
	}
	ev := o.changes(c, int64(c.args[0]), NotExist, Runnable)
	status := uint8(wire.StatusRunnable)
	if c.kind == wire.GoCreateBlocked {
		status, ev.To = wire.StatusWaiting, Waiting
	}
	if _, err := o.born(c.args[0], status); err != nil {
		return err
	}
	var err error
	if ev.Stack, err = o.stack(c.args[1]); err != nil {
		return err
	}
	if _, err := o.stack(c.args[2]); err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}

// goroutineStatus hears in which state a goroutine is.
func (o *order) goroutineStatus(c *cursor) error {
	id, thread, status := c.args[0], int64(c.args[1]), c.args[2]
	if status >= uint64(len(statusState)) {
		return errState
	}
	ev := o.changes(c, int64(id), statusState[status], statusState[status])
	s := o.goroutines.Find(int64(id))
	switch {
	case s != nil && uint64(s.status) != status:
		return errState
	case s != nil:
		s.at = sequence{generation: o.generation}
	case o.generation != o.initial:
		return errUnborn
	default:
		var err error
		if s, err = o.born(id, uint8(status)); err != nil {
			return err
		}
		ev.From = Undetermined
	}
	if c.kind == wire.GoStatusStack {
		var err error
		if ev.Stack, err = o.stack(c.args[3]); err != nil {
			return err
		}
	}
	switch {
	case status == wire.StatusSyscall && thread != c.on.id:
		if err := o.elsewhere(ev, s, thread); err != nil {
			return err
		}
	case status == wire.StatusSyscall && (thread == None || o.generation != o.initial && c.on.goroutine != s.id):
		return errThread
	case status == wire.StatusSyscall, status == wire.StatusRunning:
		c.on.bind(s)
	}
	o.out.emit(ev)
	return nil
}

// elsewhere hears that s has been in a system call on another thread for the
// whole generation.
func (o *order) elsewhere(ev *Event, s *goroutineState, thread int64) error {
	if thread == None {
		return errThread
	}
	other := o.carrier(thread)
	switch {
	case !other.seen:
		other.seen = true
		other.bind(s)
	case other.goroutine != s.id:
		return errThread
	default:
		ev.Goroutine = s.id
	}
	ev.Thread = thread
	return nil
}

// switchTo lets the goroutine on c wait, or end, and another one take over.
func (o *order) switchTo(c *cursor) (bool, error) {
	s, err := o.running(c)
	if err != nil {
		return true, err
	}
	next := o.goroutines.Find(int64(c.args[0]))
	if next == nil || next.status != wire.StatusWaiting || !next.at.before(o.generation, c.args[1]) {
		return false, nil
	}
	o.out.emit(o.changes(c, next.id, Waiting, Runnable))
	ev := o.changes(c, s.id, Running, Waiting)
	if s.status = wire.StatusWaiting; c.kind == wire.GoSwitchDestroy {
		ev.To = NotExist
		o.goroutines.drop(s)
	}
	o.out.emit(ev)
	next.status, next.at.number = wire.StatusRunning, c.args[1]
	c.on.goroutine = None
	o.out.emit(o.changes(c, next.id, Runnable, Running))
	c.on.bind(next)
	return true, nil
}

// syscallBegin takes the goroutine, and its proc, into a system call.
func (o *order) syscallBegin(c *cursor) error {
	s, err := o.running(c)
	switch {
	case err != nil:
		return err
	case !c.on.proc.at.before(o.generation, c.args[0]):
		return errSequence
	}
	s.status, c.on.proc.status, c.on.proc.at.number = wire.StatusSyscall, wire.ProcSyscall, c.args[0]
	ev := o.changes(c, s.id, Running, Syscall)
	if ev.Stack, err = o.stack(c.args[1]); err != nil {
		return err
	}
	o.out.emit(ev)
	return nil
}

// called returns the goroutine on c, which is in a system call there.
func (o *order) called(c *cursor) (*goroutineState, error) {
	if c.on.id == None || c.on.goroutine == None {
		return nil, errNoPlace
	}
	s := o.current(c.on)
	switch {
	case s == nil:
		return nil, errUnborn
	case s.status != wire.StatusSyscall:
		return nil, errState
	}
	return s, nil
}

func (o *order) syscallEnd(c *cursor) error {
	if !c.on.onGoroutine() {
		return errNoPlace
	}
	s, err := o.called(c)
	switch {
	case err != nil:
		return err
	case c.on.proc.status != wire.ProcSyscall:
		return errState
	}
	s.status, c.on.proc.status = wire.StatusRunning, wire.ProcRunning
	o.out.emit(o.changes(c, s.id, Syscall, Running))
	return nil
}

// syscallEndBlocked ends a system call that cost the goroutine its proc. It is
// not its turn before that is gone.
func (o *order) syscallEndBlocked(c *cursor) (bool, error) {
	if c.on.proc != nil && c.on.proc.status == wire.ProcSyscall {
		return false, nil
	}
	s, err := o.called(c)
	if err != nil {
		return true, err
	}
	s.status = wire.StatusRunnable
	o.out.emit(o.changes(c, s.id, Syscall, Runnable))
	c.on.goroutine = None
	return true, nil
}

// createSyscall makes a goroutine for a call from C.
func (o *order) createSyscall(c *cursor) error {
	switch {
	case c.on.id == None:
		return errNoPlace
	case c.on.goroutine != None:
		return errPlaceTaken
	}
	s, err := o.born(c.args[0], wire.StatusSyscall)
	if err != nil {
		return err
	}
	o.out.emit(o.changes(c, s.id, NotExist, Syscall))
	c.on.bind(s)
	return nil
}

// destroySyscall ends such a goroutine. What becomes of the proc, if it has
// one, is not known from then on: the thread's number may be used again.
func (o *order) destroySyscall(c *cursor) error {
	s, err := o.called(c)
	if err != nil {
		return err
	}
	if p := c.on.proc; p != nil {
		if p.status != wire.ProcSyscall {
			return errState
		}
		p.status = wire.ProcAbandoned
		o.out.emit(o.ofProc(c, p, Running, Idle))
	}
	o.out.emit(o.changes(c, s.id, Syscall, NotExist))
	o.goroutines.drop(s)
	c.on.goroutine, c.on.proc = None, nil
	return nil
}
