package exectrace

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/course"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// account sums up what the generations come to.
type account struct {
	nanoseconds float64 // a stamp
	first, last stamp
	events      int64
	sum         Summary

	payers map[uint64]*Goroutine
	recent *Goroutine // the payer that was asked for last
	pauses map[string]*Pause

	sequence  uint64 // of the last event of a cycle; 0 at first
	marking   bool
	began     stamp // the open cycle …
	openCycle Cycle
	live      course.Follower
	goal      course.Follower
}

func newAccount() *account {
	return &account{payers: map[uint64]*Goroutine{}, pauses: map[string]*Pause{}, first: math.MaxUint64}
}

// clock hears how many stamps there are in a second. Those of the first
// generation count.
func (a *account) clock(frequency uint64) {
	if a.nanoseconds == 0 {
		a.nanoseconds = 1 / (float64(frequency) / 1e9)
	}
}

// duration converts a time in stamps.
func (a *account) duration(d stamp) time.Duration {
	ns := float64(d) * a.nanoseconds
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// span is the time from one moment to another.
func (a *account) span(from, to stamp) time.Duration { return a.duration(elapsed(from, to)) }

// moment converts a moment.
func (a *account) moment(at stamp) time.Duration { return a.span(a.first, at) }

// payer is the row of a goroutine.
func (a *account) payer(id uint64) *Goroutine {
	if a.recent != nil && a.recent.ID == id {
		return a.recent
	}
	if g := a.payers[id]; g != nil {
		a.recent = g
		return g
	}
	if len(a.payers) >= listed {
		return &a.sum.Others
	}
	g := &Goroutine{ID: id}
	a.payers[id] = g
	return g
}

// add takes over a generation.
func (a *account) add(p *parsed, st *stitched) error {
	results := p.results[:len(p.batches)]
	first, last, events := a.first, a.last, int64(0)
	var cycles []cycleEvent
	for i := range results {
		r := &results[i]
		if r.events == 0 {
			continue
		}
		first, last = min(first, r.first), max(last, r.last)
		events += int64(r.events)
		cycles = append(cycles, r.cycles...)
	}
	slices.SortStableFunc(cycles, func(x, y cycleEvent) int { return cmp.Compare(x.sequence, y.sequence) })
	if err := a.checkCycles(cycles); err != nil {
		return &Error{Offset: p.offset, Reason: err.Error()}
	}
	if first != math.MaxUint64 && a.duration(last-first) > 1<<58 {
		return &Error{Offset: p.offset, Reason: fmt.Sprintf("the trace would be %v long", a.duration(last-first))}
	}
	a.first, a.last = first, last
	a.events += events
	a.addFound(st)
	a.addCycles(cycles, results)
	return nil
}

func (a *account) addFound(st *stitched) {
	for _, s := range st.assists {
		v := Assist{s.ended, a.duration(s.onCPU), a.duration(s.parked), a.duration(s.waiting)}
		a.sum.Assist.add(v)
		a.payer(s.goroutine).Assist.add(v)
	}
	for _, w := range st.works {
		a.work(w)
	}
	for _, s := range st.sweeps {
		v := Sweep{s.count, a.duration(s.time), course.Amount(s.swept), course.Amount(s.reclaimed)}
		a.sum.Sweep.add(v)
		a.payer(s.goroutine).Sweep.add(v)
	}
	slices.SortStableFunc(st.stops, func(x, y stopPiece) int { return cmp.Compare(x.start, y.start) })
	for _, s := range st.stops {
		a.stop(s)
	}
}

func (a *account) work(w workPiece) {
	d := a.span(w.start, w.end)
	switch w.mode {
	case dedicatedWorker:
		a.sum.Workers.Dedicated += d
	case fractionalWorker:
		a.sum.Workers.Fractional += d
	case idleWorker:
		a.sum.Workers.Idle += d
	}
}

func (a *account) stop(s stopPiece) {
	d := a.span(s.start, s.end)
	g := a.payer(s.goroutine)
	g.Stops++
	g.StopsTime += d
	p := a.pauses[s.name]
	if p == nil {
		p = &Pause{Reason: s.name}
		a.pauses[s.name] = p
	}
	p.Count++
	p.Total += d
	p.Max = max(p.Max, d)
	if len(a.sum.Stops) >= listed {
		a.sum.UnlistedStops++
		return
	}
	a.sum.Stops = append(a.sum.Stops, Stop{a.moment(s.start), d, s.name, s.goroutine})
}

// checkCycles finds out whether the events of mark phases, in order, make
// sense after those before.
func (a *account) checkCycles(events []cycleEvent) error {
	sequence, marking := a.sequence, a.marking
	for i, e := range events {
		known := sequence != 0 || i > 0
		if known && e.sequence != sequence+1 {
			return fmt.Errorf("event %d of the collections follows %d", e.sequence, sequence)
		}
		if wasOn := e.kind != wire.GCBegin; known && marking != wasOn || !known && e.kind == wire.GCEnd {
			return fmt.Errorf("event %d of the collections begins a mark phase inside another, or ends none", e.sequence)
		}
		sequence, marking = e.sequence, e.kind != wire.GCEnd
	}
	return nil
}

// addCycles goes through the mark phases of a generation, with what the heap
// was at their ends.
func (a *account) addCycles(events []cycleEvent, results []result) {
	bounds := make([]stamp, len(events))
	for i, e := range events {
		bounds[i] = e.at
	}
	slices.Sort(bounds)
	live := a.live.Follow(bounds, of(results, func(r *result) []course.Sample { return r.live }))
	goal := a.goal.Follow(bounds, of(results, func(r *result) []course.Sample { return r.goals }))
	for _, e := range events {
		k, _ := slices.BinarySearch(bounds, e.at)
		switch {
		case e.kind == wire.GCEnd:
			a.openCycle.End, a.openCycle.LiveEnd = a.moment(e.at), live[k]
			a.endCycle(e.at)
		case !a.marking:
			a.began = e.at
			a.openCycle = Cycle{Start: a.moment(e.at), LiveStart: live[k], Goal: goal[k], Open: e.kind == wire.GCActive}
		}
		a.sequence, a.marking = e.sequence, e.kind != wire.GCEnd
	}
}

// of iterates over the samples of one kind, batch by batch.
func of(results []result, samples func(*result) []course.Sample) iter.Seq[[]course.Sample] {
	return func(yield func([]course.Sample) bool) {
		for i := range results {
			if !yield(samples(&results[i])) {
				return
			}
		}
	}
}

func (a *account) endCycle(at stamp) {
	a.sum.Cycles.Count++
	a.sum.Cycles.Mark += a.span(a.began, at)
	if len(a.sum.Cycles.List) < listed {
		a.sum.Cycles.List = append(a.sum.Cycles.List, a.openCycle)
	} else {
		a.sum.UnlistedCycles++
	}
}

// summary closes what is open when the trace ends, and puts it in order. Call
// it once.
func (a *account) summary(s *scanner, v version) *Summary {
	sum := &a.sum
	sum.Read.Version = fmt.Sprintf("1.%d", v)
	sum.Read.Bytes, sum.Read.Generations, sum.Read.Batches, sum.Read.Events = s.size, s.generations, s.batches, a.events
	if a.events == 0 {
		return sum
	}
	sum.Start, sum.Length = a.duration(a.first), a.duration(a.last-a.first)
	a.closeThreads(s)
	if a.marking {
		a.openCycle.Open = true
		a.openCycle.End, a.openCycle.LiveEnd = a.moment(a.last), a.live.Last
		a.endCycle(a.last)
	}
	sum.Heap = Heap{a.live.Course, a.goal.Course}
	for _, p := range a.pauses {
		sum.Pauses = append(sum.Pauses, *p)
	}
	slices.SortFunc(sum.Pauses, func(x, y Pause) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.Reason, y.Reason))
	})
	for _, id := range slices.Sorted(maps.Keys(a.payers)) {
		sum.Delayed = append(sum.Delayed, *a.payers[id])
	}
	return sum
}

// closeThreads ends what still goes on at the end of the trace: assists are
// not counted, but their time is.
func (a *account) closeThreads(s *scanner) {
	st := &stitched{chains: s.chains}
	for _, id := range slices.Sorted(maps.Keys(s.threads)) {
		t := s.threads[id]
		if t.flags&working != 0 {
			a.work(workPiece{t.mode, t.work, a.last})
		}
		if t.flags&bound == 0 {
			continue
		}
		c, open := s.chains[t.goroutine]
		share := assistShare{goroutine: t.goroutine}
		switch {
		case t.flags&assisting != 0 && t.assist < a.last:
			share.onCPU = a.last - t.assist
			if open {
				share.parked, share.waiting = c.off(t.assist)
			}
		case open && t.start < a.last:
			share.onCPU = a.last - t.start
			share.parked, share.waiting = c.off(t.start)
		}
		delete(s.chains, t.goroutine)
		st.assists = append(st.assists, share)
	}
	for _, id := range slices.Sorted(maps.Keys(s.chains)) {
		c := s.chains[id]
		share := assistShare{goroutine: id}
		share.parked, share.waiting = c.off(a.last)
		st.assists = append(st.assists, share)
	}
	st.assists = slices.DeleteFunc(st.assists, func(s assistShare) bool { return s.onCPU == 0 && s.parked == 0 && s.waiting == 0 })
	a.addFound(st)
}
