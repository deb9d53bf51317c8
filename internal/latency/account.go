package latency

import (
	"io"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// Analyze reads the trace in r. With an error it returns what was complete
// before as well; see exectrace.Events. Memory grows with the goroutines,
// tasks and regions that are under way at one time, and with the kinds of
// request, but not with the length of the trace.
func Analyze(r io.Reader, o Options) (*Report, error) {
	a := &account{
		goroutines: map[trace.GoID]*goroutine{}, tasks: map[trace.TaskID]*task{},
		kinds: map[kindKey]*kind{}, groups: map[groupKey]*Group{},
		starts: map[trace.Stack]string{}, handlers: map[trace.Stack]string{}, options: o,
		sites: sites{known: map[siteKey]*site{}, stacks: map[trace.Stack]seen{}},
	}
	err := exectrace.Events(r, exectrace.KindsOf(trace.EventStateTransition, trace.EventRangeBegin, trace.EventRangeActive,
		trace.EventRangeEnd, trace.EventRegionBegin, trace.EventRegionEnd, trace.EventTaskBegin, trace.EventTaskEnd, trace.EventStackSample, trace.EventSync), a.event)
	return a.finish(), err
}

// account follows the states of goroutines.
type account struct {
	options    Options
	report     Report
	first, now trace.Time
	begun      bool

	stw, mark  clock // mark runs only while stw does not
	marking    bool
	stopping   int
	assisting  int // goroutines in an assist
	goroutines map[trace.GoID]*goroutine
	recent     [256]*goroutine // those seen last, by their IDs
	tasks      map[trace.TaskID]*task
	spare      []*task // ended ones, to use again
	kinds      map[kindKey]*kind
	groups     map[groupKey]*Group
	starts     map[trace.Stack]string // first function of a stack, in this generation
	handlers   map[trace.Stack]string
	sites      sites
}

// clock sums up the time while something is so.
type clock struct {
	on    bool
	since trace.Time
	sum   time.Duration
}

func (c *clock) at(now trace.Time) time.Duration {
	if c.on {
		return c.sum + now.Sub(c.since)
	}
	return c.sum
}

func (c *clock) set(on bool, now trace.Time) {
	c.sum = c.at(now)
	c.on, c.since = on, now
}

// goroutine is what is known of one.
type goroutine struct {
	id      trace.GoID
	state   trace.GoState
	since   trace.Time
	stw0    time.Duration // what the clocks showed then
	mark0   time.Duration
	blocked Part // why it waits
	assist  bool
	sweep   bool
	stop    bool // it has stopped the world
	serving bool // it is a connection of net/http
	dead    bool

	spent   Split // since it was seen first
	booked  Split // what of it the group has
	group   *Group
	regions []region
}

func (a *account) goroutine(id trace.GoID) *goroutine {
	slot := &a.recent[uint64(id)%uint64(len(a.recent))]
	if g := *slot; g != nil && g.id == id {
		return g
	}
	g := a.goroutines[id]
	if g == nil {
		g = &goroutine{id: id, since: a.now, stw0: a.stw.at(a.now), mark0: a.mark.at(a.now)}
		a.goroutines[id] = g
		a.report.Goroutines++
	}
	*slot = g
	return g
}

// event takes note of an event.
func (a *account) event(ev *trace.Event) {
	a.report.Events++
	a.now = ev.Time()
	if !a.begun {
		a.begun, a.first = true, a.now
	}
	switch ev.Kind() {
	case trace.EventStateTransition:
		a.transition(ev)
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		a.span(ev)
	case trace.EventRegionBegin:
		a.beginRegion(ev)
	case trace.EventRegionEnd:
		a.endRegion(ev)
	case trace.EventTaskBegin:
		a.beginTask(ev)
	case trace.EventTaskEnd:
		a.endTask(ev)
	case trace.EventStackSample:
		a.sample(ev)
	case trace.EventSync:
		clear(a.starts)
		clear(a.handlers)
		clear(a.sites.stacks)
		if a.options.Progress != nil {
			a.options.Progress(a.now.Sub(a.first))
		}
	}
}

// transition moves a goroutine from one state to another.
func (a *account) transition(ev *trace.Event) {
	s := ev.StateTransition()
	if s.Resource.Kind != trace.ResourceGoroutine {
		return
	}
	from, to := s.Goroutine()
	g := a.goroutine(s.Resource.Goroutine())
	if g.group == nil || g.serving {
		a.place(g, from, &s)
	}
	a.flush(g)
	g.state = to
	switch to {
	case trace.GoWaiting:
		if from != to {
			g.blocked = blockedBy(s.Reason)
		}
	case trace.GoNotExist:
		a.end(g)
	}
}

// blockedBy sorts the runtime's reasons for waiting.
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

// flush books the time since g's last event on what it was doing.
func (a *account) flush(g *goroutine) {
	d := a.now.Sub(g.since)
	g.since = a.now
	switch g.state {
	case trace.GoRunning:
		a.spend(g, g.running(), d)
	case trace.GoWaiting:
		if g.assist {
			a.spend(g, AssistParked, d)
		} else {
			g.spent[g.blocked] += d
		}
	case trace.GoRunnable:
		inSTW := min(a.stw.at(a.now)-g.stw0, d)
		inMark := min(a.mark.at(a.now)-g.mark0, d-inSTW)
		a.spend(g, STW, inSTW)
		a.spend(g, WaitMark, inMark)
		g.spent[WaitOutside] += d - inSTW - inMark
	case trace.GoSyscall:
		g.spent[Syscall] += d
	default:
		g.spent[Unknown] += d
	}
	g.stw0, g.mark0 = a.stw.at(a.now), a.mark.at(a.now)
}

// spend books d on a part, and on the window where the collector has a part in
// it.
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

// running is what g does while it runs.
func (g *goroutine) running() Part {
	switch {
	case g.stop:
		return STW
	case g.sweep:
		return Sweep
	case g.assist:
		return AssistCPU
	}
	return Running
}

// end books what g has left.
func (a *account) end(g *goroutine) {
	g.dead = true
	if g.assist {
		a.assisting--
	}
	a.book(g)
	delete(a.goroutines, g.id)
	if slot := &a.recent[uint64(g.id)%uint64(len(a.recent))]; *slot == g {
		*slot = nil
	}
}

// span hears of the collector's ranges of time.
func (a *account) span(ev *trace.Event) {
	x := ev.Range()
	on := ev.Kind() != trace.EventRangeEnd
	switch {
	case x.Name == "GC incremental sweep":
		if id := ev.Goroutine(); id != trace.NoGoroutine {
			g := a.goroutine(id)
			a.flush(g)
			g.sweep = on
		}
	case x.Name == "GC mark assist":
		g := a.goroutine(x.Scope.Goroutine())
		a.flush(g)
		if g.assist != on {
			g.assist = on
			if on {
				a.assisting++
			} else {
				a.assisting--
			}
		}
	case x.Name == "GC concurrent mark phase":
		a.setMark(on)
	case strings.HasPrefix(x.Name, "stop-the-world"):
		g := a.goroutine(x.Scope.Goroutine())
		a.flush(g)
		if g.stop != on {
			g.stop = on
			a.setSTW(on)
		}
	}
}

func (a *account) setSTW(on bool) {
	if on {
		a.stopping++
	} else {
		a.stopping--
	}
	a.stw.set(a.stopping > 0, a.now)
	a.mark.set(a.marking && a.stopping == 0, a.now)
}

func (a *account) setMark(on bool) {
	if on == a.marking {
		return
	}
	a.marking = on
	a.mark.set(on && a.stopping == 0, a.now)
	at := a.now.Sub(a.first)
	windows := &a.report.Windows
	if n := len(*windows); on && n > 0 && a.report.Unlisted == 0 {
		a.sites.charge(&(*windows)[n-1]) // nothing more is booked on it
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

// finish closes what is open.
func (a *account) finish() *Report {
	if a.marking {
		a.setMark(false)
	}
	for _, g := range a.goroutines {
		a.flush(g)
		a.book(g)
	}
	a.report.Length = a.now.Sub(a.first)
	a.report.STW = a.stw.at(a.now)
	a.report.Groups = sortGroups(a.groups)
	a.report.Requests = sortRequests(a.kinds)
	if n := len(a.report.Windows); n > 0 && a.report.Unlisted == 0 {
		a.sites.charge(&a.report.Windows[n-1])
	}
	a.report.Causes = a.sites.finish()
	return &a.report
}
