package latency

import (
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/table"
)

// Analyze reads the trace in r. With an error it also returns the part that was
// complete before; see exectrace.Events. Its memory grows with the number of
// goroutines, tasks and regions that are open at the same time, and with the number of
// request kinds, but not with the length of the trace.
func Analyze(r io.Reader, o Options) (*Report, error) {
	a, kinds := newAccount(o)
	err := exectrace.Events(r, kinds, a.event)
	return a.finish(), err
}

// newAccount returns an account of nothing yet, and the kinds of event that it wants.
func newAccount(o Options) (*account, exectrace.Kinds) {
	a := &account{
		kinds:   map[kindKey]*kind{},
		groups:  map[groupKey]*Group{},
		options: o,
		sites:   sites{own: o.Own, known: map[siteKey]*site{}, stacks: map[exectrace.Stack]seen{}},
	}
	kinds := exectrace.KindsOf(exectrace.EventGoroutine, exectrace.EventRangeBegin, exectrace.EventRangeActive,
		exectrace.EventRangeEnd, exectrace.EventRegionBegin, exectrace.EventRegionEnd, exectrace.EventTaskBegin, exectrace.EventTaskEnd,
		exectrace.EventSample, exectrace.EventSync)
	if o.Delays {
		a.delays.threads = map[int64]*threadDelays{}
		kinds |= exectrace.KindsOf(exectrace.EventLog)
	}
	return a, kinds
}

// account tracks the states of goroutines.
type account struct {
	options    Options
	report     Report
	names      *exectrace.Names // of the current event
	first, now moment
	begun      bool

	pause pauses

	goroutines table.Table[goroutine]
	gone       []*goroutine // ended ones, for reuse
	open       openTasks

	kinds  map[kindKey]*kind
	groups map[groupKey]*Group
	gen    genNames

	delays delays

	sites sites
}

// openTasks are tasks that have not ended, and ended ones for reuse.
type openTasks struct {
	tasks table.Table[task]
	spare []*task // ended ones, for reuse
}

// genNames caches what is known by names of this generation.
type genNames struct {
	starts         cache[string] // first function of a stack
	handlers       cache[*Group] // of net/http, by stack
	reasons        cache[Part]   // why goroutines wait
	regions, tasks cache[*kind]  // by their names
}

// cache remembers values by the numbers of a generation, which are small.
type cache[T any] []cached[T]

type cached[T any] struct {
	value T
	known bool
}

func (c cache[T]) get(n uint32) (T, bool) {
	if int(n) >= len(c) {
		var none T
		return none, false
	}
	return c[n].value, c[n].known
}

// set remembers a value, unless its number is too large for that.
func (c *cache[T]) set(n uint32, value T) {
	const largest = 1 << 20
	if n > largest {
		return
	}
	for len(*c) <= int(n) {
		*c = append(*c, cached[T]{})
	}
	(*c)[n] = cached[T]{value, true}
}

// pauses are the clocks of stops and mark phases, and the number of goroutines in
// them.
type pauses struct {
	stw, mark clock // mark runs only while stw does not
	marking   bool
	stopping  int
	assisting int // goroutines in an assist
}

// moment is a time on the clock of the trace, in nanoseconds.
type moment int64

// Sub returns the time from s to m.
func (m moment) Sub(s moment) time.Duration { return time.Duration(m - s) }

// clock sums up the time while a condition holds.
type clock struct {
	on    bool
	since moment
	sum   time.Duration
}

func (c *clock) at(now moment) time.Duration {
	if c.on {
		return c.sum + now.Sub(c.since)
	}
	return c.sum
}

func (c *clock) set(on bool, now moment) {
	c.sum = c.at(now)
	c.on, c.since = on, now
}

// goroutine is the state of one goroutine.
type goroutine struct {
	id      int64
	state   exectrace.State
	thread  int64 // where it runs or ran last
	since   moment
	stw0    time.Duration // the clocks at that time, if it is runnable
	mark0   time.Duration
	blocked Part // why it waits
	in      inCollector

	serving bool // it is a connection of net/http
	dead    bool
	bore    bool // a task, which may still refer to it

	spent   Split // since its first event
	booked  Split // the part of spent already in its group
	group   *Group
	regions []region
}

// inCollector says what a goroutine is doing for the collector.
type inCollector struct {
	assist bool
	sweep  bool
	stop   bool // it has stopped the world
}

func (a *account) goroutine(id int64) *goroutine {
	g := a.goroutines.Find(id)
	if g != nil {
		return g
	}
	if last := len(a.gone) - 1; last >= 0 {
		g, a.gone = a.gone[last], a.gone[:last]
	} else {
		g = &goroutine{}
	}
	*g = goroutine{id: id, since: a.now, regions: g.regions[:0]}
	a.goroutines.Add(id, g)
	a.report.Goroutines++
	return g
}

// event processes one event.
func (a *account) event(ev *exectrace.Event, n *exectrace.Names) {
	if ev.Kind == exectrace.EventLog {
		a.log(ev, n)
		return
	}
	a.report.Events++
	a.now, a.names = moment(ev.Time), n
	if !a.begun {
		a.begun, a.first = true, a.now
	}
	switch ev.Kind {
	case exectrace.EventGoroutine:
		a.transition(ev)
	case exectrace.EventRangeBegin, exectrace.EventRangeActive, exectrace.EventRangeEnd:
		a.span(ev)
	case exectrace.EventRegionBegin:
		a.beginRegion(ev)
	case exectrace.EventRegionEnd:
		a.endRegion(ev)
	case exectrace.EventTaskBegin:
		a.beginTask(ev)
	case exectrace.EventTaskEnd:
		a.endTask(ev)
	case exectrace.EventSample:
		a.sample(ev)
	case exectrace.EventSync:
		clear(a.gen.starts)
		clear(a.gen.handlers)
		clear(a.gen.reasons)
		clear(a.gen.regions)
		clear(a.gen.tasks)
		clear(a.sites.stacks)
		if a.options.Delays {
			a.delays.read(n.Texts())
		}
		if a.options.Progress != nil {
			a.options.Progress(a.now.Sub(a.first))
		}
	}
}

// transition moves a goroutine from one state to another.
func (a *account) transition(ev *exectrace.Event) {
	g := a.goroutine(ev.Subject)
	if g.group == nil || g.serving {
		a.place(g, ev)
	}
	a.flush(g)
	if g.state = ev.To; ev.To == exectrace.Running {
		g.thread = ev.Thread
	}
	switch ev.To {
	case exectrace.Runnable:
		a.note(g)
	case exectrace.Waiting:
		if ev.From != ev.To {
			g.blocked = a.blockedBy(ev.Text)
		}
	case exectrace.NotExist:
		a.end(g)
	}
}

// blockedBy maps the reasons of a generation to parts.
func (a *account) blockedBy(reason exectrace.Text) Part {
	p, ok := a.gen.reasons.get(uint32(reason))
	if !ok {
		p = blockedBy(a.names.Text(reason))
		a.gen.reasons.set(uint32(reason), p)
	}
	return p
}

// blockedBy maps the runtime's reasons for waiting to parts.
func blockedBy(reason string) Part {
	switch reason {
	case "chan send", "chan receive", "select":
		return BlockedChannel
	case "sync", "sync.(*Cond).Wait":
		return BlockedSync
	case "network":
		return BlockedNetwork
	case "sleep":
		return BlockedSleep
	case "GC background sweeper wait", "wait until GC ends", "GC weak to strong wait", "GC mark assist wait for work":
		return BlockedCollector
	}
	return BlockedOther
}

// flush adds the time since g's last event to the part of its activity.
func (a *account) flush(g *goroutine) {
	since, d := g.since, a.now.Sub(g.since)
	g.since = a.now
	switch g.state {
	case exectrace.Running:
		p := g.running()
		if p != STW && a.delays.known {
			w := a.delays.waited(g.thread, since, a.now)
			g.spent[Descheduled] += w
			d -= w
		}
		a.spend(g, p, d)
	case exectrace.Waiting:
		if g.in.assist {
			a.spend(g, AssistParked, d)
		} else {
			g.spent[g.blocked] += d
		}
	case exectrace.Runnable:
		stw, mark := g.stw0, g.mark0
		a.note(g)
		inSTW := min(g.stw0-stw, d)
		inMark := min(g.mark0-mark, d-inSTW)
		a.spend(g, STW, inSTW)
		a.spend(g, WaitMark, inMark)
		g.spent[WaitOutside] += d - inSTW - inMark
	case exectrace.Syscall:
		g.spent[Syscall] += d
	default:
		g.spent[Unknown] += d
	}
}

// note notes the clocks for g.
func (a *account) note(g *goroutine) {
	g.stw0, g.mark0 = a.pause.stw.at(a.now), a.pause.mark.at(a.now)
}

// spend adds d to a part, and to the window if the collector caused it.
func (a *account) spend(g *goroutine, p Part, d time.Duration) {
	g.spent[p] += d
	windows := a.report.Windows
	if d == 0 || p == Running || p == Sweep || len(windows) == 0 || a.report.Unlisted > 0 {
		return
	}
	if g.group == nil || !g.group.System {
		windows[len(windows)-1].Paid[p] += d
	}
}

// running returns the part to which g's time belongs while it runs.
func (g *goroutine) running() Part {
	switch {
	case g.in.stop:
		return STW
	case g.in.sweep:
		return Sweep
	case g.in.assist:
		return AssistCPU
	}
	return Running
}

// end adds the rest of g's time to its group.
func (a *account) end(g *goroutine) {
	g.dead = true
	if g.in.assist {
		a.pause.assisting--
	}
	a.book(g)
	a.goroutines.Drop(g.id)
	if !g.bore {
		a.gone = append(a.gone, g)
	}
}

// span processes the collector's time ranges.
func (a *account) span(ev *exectrace.Event) {
	on := ev.Kind != exectrace.EventRangeEnd
	switch ev.Range {
	case exectrace.RangeSweep:
		if ev.Goroutine != exectrace.None {
			g := a.goroutine(ev.Goroutine)
			a.flush(g)
			g.in.sweep = on
		}
	case exectrace.RangeAssist:
		g := a.goroutine(ev.Subject)
		a.flush(g)
		if g.in.assist != on {
			g.in.assist = on
			if on {
				a.pause.assisting++
			} else {
				a.pause.assisting--
			}
		}
	case exectrace.RangeMark:
		a.setMark(on)
	case exectrace.RangeStop:
		g := a.goroutine(ev.Subject)
		a.flush(g)
		if g.in.stop != on {
			g.in.stop = on
			a.setSTW(on)
		}
	}
}

func (a *account) setSTW(on bool) {
	if on {
		a.pause.stopping++
	} else {
		a.pause.stopping--
	}
	a.pause.stw.set(a.pause.stopping > 0, a.now)
	a.pause.mark.set(a.pause.marking && a.pause.stopping == 0, a.now)
}

func (a *account) setMark(on bool) {
	if on == a.pause.marking {
		return
	}
	a.pause.marking = on
	a.pause.mark.set(on && a.pause.stopping == 0, a.now)
	at := a.now.Sub(a.first)
	windows := &a.report.Windows
	if n := len(*windows); on && n > 0 && a.report.Unlisted == 0 {
		a.sites.charge(&(*windows)[n-1]) // the window is complete
	}
	switch {
	case !on:
		a.report.Mark += at
		if a.report.Unlisted == 0 {
			(*windows)[len(*windows)-1].End = at
		}
	case len(*windows) < maxWindows:
		a.report.Mark -= at
		*windows = append(*windows, Window{Start: at})
	default:
		a.report.Mark -= at
		a.report.Unlisted++
	}
}

// finish closes everything that is open.
func (a *account) finish() *Report {
	if a.pause.marking {
		a.setMark(false)
	}
	for g := range a.goroutines.All() {
		a.flush(g)
		a.book(g)
	}
	a.report.Length = a.now.Sub(a.first)
	a.report.STW = a.pause.stw.at(a.now)
	a.report.Groups = sortGroups(a.groups)
	a.report.Requests = sortRequests(a.kinds)
	if n := len(a.report.Windows); n > 0 && a.report.Unlisted == 0 {
		a.sites.charge(&a.report.Windows[n-1])
	}
	a.report.Causes = a.sites.finish()
	return &a.report
}
