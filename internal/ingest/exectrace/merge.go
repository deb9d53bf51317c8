package exectrace

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/frontier"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/hop"
)

// merger makes one sequence of the events of all threads. Of the next events
// of the threads the earliest one comes first, unless it is not its turn by the
// rules of the scheduler: clocks of two threads may differ. That is the order
// that golang.org/x/exp/trace gives, event by event.
type merger struct {
	order    *order
	version  version
	counts   [256]uint8
	kinds    *[256]hop.Kind
	syncs    uint64
	midway   bool // among the events of a generation
	frontier frontier.Frontier[*cursor]
	samples  []cpuSample
	scan     *scanner // of the events; nil for none
	parsed   parsed   // for scan
}

// merge gives the events of g.
func (m *merger) merge(g *generation) error {
	t, err := readTables(g, m.version)
	if err != nil {
		return err
	}
	n, err := readNames(g, m.version, t)
	if err != nil {
		return err
	}
	unit := 1 / (float64(t.frequency) / 1e9)
	if m.samples, err = readSamples(g, m.version, unit); err != nil {
		return err
	}
	begins := nanoseconds(g.begins(), unit)
	if begins < 0 {
		return &Error{Offset: g.offset, Reason: errFarStamp.Error()}
	}
	m.order.generation, m.midway = g.id, true
	if m.scan != nil {
		m.scan.open(&m.parsed, g, t)
	}
	if err := m.lineUp(g, unit); err != nil {
		return err
	}
	m.order.out.rename(n)
	m.sync(begins)
	for len(m.frontier) > 0 || len(m.samples) > 0 {
		if err := m.step(); err != nil {
			return err
		}
	}
	m.midway = false
	if m.scan != nil && (m.parsed.broken() != nil || m.scan.put(&m.parsed) != nil) {
		m.scan = nil
	}
	return nil
}

// begins is the earliest time of a batch.
func (g *generation) begins() uint64 {
	t := uint64(0)
	for _, b := range g.batches {
		if t == 0 || b.time < t {
			t = b.time
		}
	}
	return t
}

// sync tells where a generation begins, or the trace ends.
func (m *merger) sync(at int64) {
	m.syncs++
	m.order.out.next = Event{Time: at, Goroutine: None, Thread: None, Kind: EventSync, Value: m.syncs}
	m.order.out.emit(&m.order.out.next)
}

// lineUp makes the frontier of a generation.
func (m *merger) lineUp(g *generation, unit float64) error {
	cursors := map[uint64]*cursor{}
	var inOrder []*cursor
	for i := range g.batches {
		b := &g.batches[i]
		if b.holds(m.version) != eventData {
			if m.scan != nil {
				m.parsed.results[i].reset()
			}
			continue
		}
		c := cursors[b.thread]
		if c == nil {
			c = &cursor{on: m.order.carrier(int64(b.thread)), g: g, counts: &m.counts, unit: unit}
			if m.scan != nil {
				c.scan, c.results = &parser{kinds: m.kinds}, m.parsed.results
				c.scan.use(&m.parsed)
			}
			cursors[b.thread] = c
			inOrder = append(inOrder, c)
		}
		c.batches = append(c.batches, i)
	}
	m.frontier = m.frontier[:0]
	for _, c := range inOrder {
		ok, err := c.next()
		if err != nil {
			return err
		}
		if ok {
			m.frontier.Add(c.time, c)
		}
	}
	return nil
}

// step lets one event happen, and those after it that come before all others.
func (m *merger) step() error {
	sampled := int64(math.MaxInt64)
	if len(m.samples) > 0 {
		sampled = m.samples[0].time
	}
	if len(m.frontier) == 0 || sampled < m.frontier[0].Time {
		return m.sample()
	}
	ok, err := m.try(0)
	if ok || err != nil {
		return err
	}
	m.frontier.Sort()
	for i := 1; i < len(m.frontier); i++ {
		if ok, err := m.try(i); ok || err != nil {
			return err
		}
	}
	c := m.frontier[0].Reader
	return c.fail(c.start, errStuck)
}

// try lets the event of cursor i happen, if it is its turn.
func (m *merger) try(i int) (bool, error) {
	c := m.frontier[i].Reader
	ok, err := m.order.advance(c)
	if err != nil {
		return false, c.fail(c.start, err)
	}
	if !ok {
		return false, nil
	}
	more, err := c.next()
	switch {
	case err != nil:
		return false, err
	case more:
		m.frontier.Moved(i, c.time)
	default:
		m.frontier.Remove(i)
	}
	return true, nil
}

// sample gives the next sample of the CPU profile.
func (m *merger) sample() error {
	s := m.samples[0]
	m.samples = m.samples[1:]
	stack, err := m.order.stack(s.stack)
	if err != nil {
		return &Error{Reason: "a sample of the CPU: " + err.Error()}
	}
	m.order.out.next = Event{Time: s.time, Goroutine: s.goroutine, Thread: s.thread, Kind: EventSample, Stack: stack}
	m.order.out.emit(&m.order.out.next)
	return nil
}
