package exectrace_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// reference computes a summary from events in order. It shares no code with
// the scanner, and gets at every figure another way: by states of goroutines
// instead of legs on threads.
type reference struct {
	exectrace.Summary
	tick        trace.Time
	first, last time.Duration
	goroutines  map[trace.GoID]*goroutine
	sweeps      map[trace.ProcID]time.Duration
	payers      map[uint64]*exectrace.Goroutine
	pauses      map[string]*exectrace.Pause
	cycle       exectrace.Cycle
	marking     bool
	live, goal  []sample

	// The reader of events lets none be earlier than the last one of the
	// generation before; what it did to a stamp then is not known.
	generations int
	edge        bool
	moved       int // events of ours with such a stamp
}

type sample struct {
	at    time.Duration
	value unit.Bytes
}

type goroutine struct {
	state   trace.GoState
	since   time.Duration // in this state, or in the assist if that began later
	blocked bool
	assist  bool
	mode    string        // of a mark worker
	work    time.Duration // since when it has been one
	stop    time.Duration
}

// usualTick is the clock of the traces here, in nanoseconds. The reader of
// events adds nanoseconds to stamps that are equal, so that all differ; the
// reference takes them away again.
const usualTick = 64

func referenceSummary(r io.Reader, tick trace.Time) (*exectrace.Summary, error) {
	ref, err := readReference(r, tick)
	if ref == nil {
		return nil, err
	}
	return ref.finish(), err
}

func readReference(r io.Reader, tick trace.Time) (*reference, error) {
	ref := &reference{
		tick:  tick,
		first: -1, goroutines: map[trace.GoID]*goroutine{}, sweeps: map[trace.ProcID]time.Duration{},
		payers: map[uint64]*exectrace.Goroutine{}, pauses: map[string]*exectrace.Pause{},
	}
	events, err := trace.NewReader(r)
	if err != nil {
		return nil, err
	}
	for {
		ev, err := events.ReadEvent()
		if errors.Is(err, io.EOF) {
			return ref, nil
		}
		if err != nil {
			return ref, err
		}
		switch ev.Kind() {
		case trace.EventSync:
			ref.generations++
			ref.edge = ref.generations > 1
		case trace.EventStackSample:
		default:
			if ref.edge = ref.edge && ev.Time()%tick != 0; ref.edge && ev.Kind() != trace.EventStateTransition {
				ref.moved++
			}
			ref.event(ev)
		}
	}
}

func (r *reference) goroutine(id trace.GoID) *goroutine {
	g := r.goroutines[id]
	if g == nil {
		g = &goroutine{}
		r.goroutines[id] = g
	}
	return g
}

func (r *reference) payer(id trace.GoID) *exectrace.Goroutine {
	key := uint64(max(id, 0))
	p := r.payers[key]
	if p == nil {
		p = &exectrace.Goroutine{ID: key}
		r.payers[key] = p
	}
	return p
}

func (r *reference) event(ev trace.Event) {
	at := time.Duration(ev.Time() / r.tick * r.tick)
	if r.first < 0 {
		r.first = at
	}
	r.last = max(r.last, at)
	at -= r.first
	switch ev.Kind() {
	case trace.EventStateTransition:
		s := ev.StateTransition()
		if s.Resource.Kind != trace.ResourceGoroutine {
			return
		}
		id := s.Resource.Goroutine()
		from, to := s.Goroutine()
		if from == to {
			return // still so in a new generation
		}
		g := r.goroutine(id)
		r.flush(id, g, at)
		g.state, g.since = to, at
		// What took a goroutine off the CPU also answers for its wait to run again.
		g.blocked = to == trace.GoWaiting || g.blocked && to == trace.GoRunnable
		if to == trace.GoNotExist {
			delete(r.goroutines, id)
		}
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r.span(ev, at)
	case trace.EventLabel:
		g := r.goroutine(ev.Label().Resource.Goroutine())
		r.flush(ev.Label().Resource.Goroutine(), g, at)
		g.since = at
		g.mode, g.work = ev.Label().Label, at
	case trace.EventMetric:
		m := ev.Metric()
		switch m.Name {
		case "/memory/classes/heap/objects:bytes":
			r.live = append(r.live, sample{at, unit.Bytes(m.Value.Uint64())})
		case "/gc/heap/goal:bytes":
			r.goal = append(r.goal, sample{at, unit.Bytes(m.Value.Uint64())})
		}
	}
}

// flush books the time that g has been in its state.
func (r *reference) flush(id trace.GoID, g *goroutine, at time.Duration) {
	if g.assist {
		d := at - g.since
		var a exectrace.Assist
		switch {
		case g.state == trace.GoRunning:
			a.OnCPU = d
		case g.blocked:
			a.Parked = d
		default:
			a.Waiting = d
		}
		r.addAssist(id, a)
	}
	if g.state == trace.GoRunning && g.mode != "" {
		r.work(g.mode, at-g.work)
		g.mode = ""
	}
}

func (r *reference) work(mode string, d time.Duration) {
	switch mode {
	case "GC (dedicated)":
		r.Workers.Dedicated += d
	case "GC (fractional)":
		r.Workers.Fractional += d
	case "GC (idle)":
		r.Workers.Idle += d
	}
}

func (r *reference) addAssist(id trace.GoID, a exectrace.Assist) {
	for _, to := range []*exectrace.Assist{&r.Assist, &r.payer(id).Assist} {
		to.Count += a.Count
		to.OnCPU += a.OnCPU
		to.Parked += a.Parked
		to.Waiting += a.Waiting
	}
}

func (r *reference) span(ev trace.Event, at time.Duration) {
	x := ev.Range()
	ends := ev.Kind() == trace.EventRangeEnd
	switch reason, stop := strings.CutPrefix(x.Name, "stop-the-world ("); {
	case stop && !ends:
		r.goroutine(ev.Goroutine()).stop = at
	case stop:
		r.stop(ev.Goroutine(), strings.TrimSuffix(reason, ")"), at)
	case x.Name == "GC concurrent mark phase":
		r.mark(ev.Kind(), at)
	case x.Name == "GC mark assist" && !ends:
		id := x.Scope.Goroutine()
		if g := r.goroutine(id); !g.assist {
			g.assist, g.since = true, at
		}
	case x.Name == "GC mark assist":
		id := x.Scope.Goroutine()
		g := r.goroutine(id)
		r.flush(id, g, at)
		g.assist, g.since = false, at
		r.addAssist(id, exectrace.Assist{Count: 1})
	case !ends:
		if ev.Kind() == trace.EventRangeBegin || r.sweeps[x.Scope.Proc()] == 0 {
			r.sweeps[x.Scope.Proc()] = at
		}
	default:
		v := exectrace.Sweep{Count: 1, Time: at - r.sweeps[x.Scope.Proc()]}
		delete(r.sweeps, x.Scope.Proc())
		for _, a := range ev.RangeAttributes() {
			switch a.Name {
			case "bytes swept":
				v.Swept = unit.Bytes(a.Value.Uint64())
			case "bytes reclaimed":
				v.Reclaimed = unit.Bytes(a.Value.Uint64())
			}
		}
		for _, to := range []*exectrace.Sweep{&r.Sweep, &r.payer(ev.Goroutine()).Sweep} {
			to.Count++
			to.Time += v.Time
			to.Swept += v.Swept
			to.Reclaimed += v.Reclaimed
		}
	}
}

func (r *reference) stop(id trace.GoID, reason string, at time.Duration) {
	start := r.goroutine(id).stop
	d := at - start
	r.Stops = append(r.Stops, exectrace.Stop{Start: start, Length: d, Reason: reason, Goroutine: uint64(id)})
	r.payer(id).Stops++
	r.payer(id).StopsTime += d
	p := r.pauses[reason]
	if p == nil {
		p = &exectrace.Pause{Reason: reason}
		r.pauses[reason] = p
	}
	p.Count++
	p.Total += d
	p.Max = max(p.Max, d)
}

func (r *reference) mark(kind trace.EventKind, at time.Duration) {
	switch {
	case kind == trace.EventRangeEnd:
		r.endCycle(at)
	case !r.marking:
		r.marking = true
		r.cycle = exectrace.Cycle{Start: at, Open: kind == trace.EventRangeActive}
	}
}

func (r *reference) endCycle(at time.Duration) {
	r.marking = false
	r.cycle.End = at
	r.Cycles.Count++
	r.Cycles.Mark += at - r.cycle.Start
	r.Cycles.List = append(r.Cycles.List, r.cycle)
}

func (r *reference) finish() *exectrace.Summary {
	if r.first < 0 {
		return &r.Summary
	}
	end := r.last - r.first
	for id, g := range r.goroutines {
		r.flush(id, g, end)
	}
	if r.marking {
		r.cycle.Open = true
		r.endCycle(end)
	}
	order := func(a, b sample) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.value, b.value)) }
	slices.SortFunc(r.live, order)
	slices.SortFunc(r.goal, order)
	for i := range r.Cycles.List {
		c := &r.Cycles.List[i]
		c.LiveStart, c.LiveEnd, c.Goal = newest(r.live, c.Start), newest(r.live, c.End), newest(r.goal, c.Start)
	}
	r.Heap = exectrace.Heap{Live: courseOf(r.live), Goal: courseOf(r.goal)}
	r.Start, r.Length = r.first, end
	for _, p := range r.pauses {
		r.Pauses = append(r.Pauses, *p)
	}
	slices.SortFunc(r.Pauses, func(a, b exectrace.Pause) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.Reason, b.Reason))
	})
	for _, id := range slices.Sorted(maps.Keys(r.payers)) {
		if p := *r.payers[id]; p != (exectrace.Goroutine{ID: id}) {
			r.Delayed = append(r.Delayed, p)
		}
	}
	return &r.Summary
}

func newest(samples []sample, at time.Duration) unit.Bytes {
	i, _ := slices.BinarySearchFunc(samples, at, func(s sample, at time.Duration) int {
		if s.at <= at {
			return -1
		}
		return 1
	})
	if i == 0 {
		return 0
	}
	return samples[i-1].value
}

func courseOf(samples []sample) exectrace.Course {
	if len(samples) == 0 {
		return exectrace.Course{}
	}
	c := exectrace.Course{Samples: len(samples), First: samples[0].value, Last: samples[len(samples)-1].value, Min: samples[0].value}
	for _, s := range samples {
		c.Min, c.Max = min(c.Min, s.value), max(c.Max, s.value)
	}
	return c
}

// differences lists what two summaries say differently about memory.
func differences(got, want *exectrace.Summary) []string {
	var d []string
	check := func(what string, got, want any) {
		if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
			if len(g) > 300 {
				g, w = g[:300]+"…", w[:min(300, len(w))]+"…"
			}
			d = append(d, fmt.Sprintf("%s: got %s, want %s", what, g, w))
		}
	}
	check("start", got.Start, want.Start)
	check("length", got.Length, want.Length)
	check("cycles", got.Cycles.Count, want.Cycles.Count)
	check("mark time", got.Cycles.Mark, want.Cycles.Mark)
	for i := range min(len(got.Cycles.List), len(want.Cycles.List)) {
		check(fmt.Sprint("cycle ", i), got.Cycles.List[i], want.Cycles.List[i])
	}
	check("assist", got.Assist, want.Assist)
	check("workers", got.Workers, want.Workers)
	check("sweep", got.Sweep, want.Sweep)
	check("heap", got.Heap, want.Heap)
	check("pauses", got.Pauses, want.Pauses)
	check("number of stops", len(got.Stops), len(want.Stops))
	for i := range min(len(got.Stops), len(want.Stops)) {
		check(fmt.Sprint("stop ", i), got.Stops[i], want.Stops[i])
	}
	check("number of payers", len(got.Delayed), len(want.Delayed))
	for i := range min(len(got.Delayed), len(want.Delayed)) {
		check(fmt.Sprint("payer ", i), got.Delayed[i], want.Delayed[i])
	}
	return d
}
