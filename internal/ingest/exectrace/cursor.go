package exectrace

import (
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/course"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/hop"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// raw is an event as its thread wrote it.
type raw struct {
	time  int64 // nanoseconds; of a batch, before its first event
	args  [4]uint64
	kind  byte
	start int // in the data of the batch
}

// cursor reads the events of one thread in a generation.
type cursor struct {
	on      *carrier
	g       *generation
	counts  *[256]uint8
	unit    float64  // nanoseconds a stamp
	batches []int    // that follow, in g
	scan    *parser  // hears of the events, too; nil for none
	results []result // for scan, of all batches
	data    []byte   // of the batch that is being read
	pos     int      // in data
	end     int
	offset  int64 // of data in the file
	raw
}

// next reads the next event into c, unless there is none.
func (c *cursor) next() (bool, error) {
	for c.pos == c.end {
		if c.scan != nil && c.scan.batch != nil {
			c.scan.finish()
		}
		if len(c.batches) == 0 {
			return false, nil
		}
		i := c.batches[0]
		b := &c.g.batches[i]
		c.batches = c.batches[1:]
		c.pos, c.end, c.time = 0, b.end-b.start, nanoseconds(b.time, c.unit)
		c.offset = c.g.offset + int64(b.start)
		c.data = slices.Grow(c.data[:0], c.end+wire.Slack)[:c.end+wire.Slack]
		if err := c.g.load(b, c.data); err != nil {
			return false, err
		}
		if b.time > farthest || c.time < 0 {
			return false, c.fail(0, errFarStamp)
		}
		if c.scan != nil {
			c.scan.data = c.data
			c.scan.begin(b, &c.results[i], nil)
		}
	}
	d, start := c.data, c.pos
	kind := d[start]
	n := c.counts[kind]
	if n == 0 {
		return false, c.fail(start, fmt.Errorf("event %d, which does not occur among events", kind))
	}
	since, i := wire.Number(d, start+1)
	for k := range n - 1 {
		c.args[k&3], i = wire.Number(d, i)
	}
	if i > c.end {
		return false, c.fail(start, errCutEvent)
	}
	at := c.time + nanoseconds(since, c.unit)
	if since > farthest || at < c.time {
		return false, c.fail(start, errFarStamp)
	}
	c.kind, c.start, c.time, c.pos = kind, start, at, i
	if p := c.scan; p != nil {
		t, w := p.kinds[kind], &p.walk
		w.events++
		w.at += since
		switch {
		case w.at > farthest:
			c.tell()
		case t&(hop.Turn|hop.Picked) == 0:
		case t&hop.Picked != 0 || w.watch || kind == wire.GoBlock && c.args[0] == p.rules.assistWait:
			c.tell()
		default:
			w.turn = place{w.at, start}
		}
	}
	return true, nil
}

// tell lets the scan hear of the event.
func (c *cursor) tell() {
	p := c.scan
	switch at := p.walk.at; {
	case at > farthest:
		p.fail(c.start, errFarStamp)
	case c.kind == wire.HeapAlloc:
		p.found.live = append(p.found.live, course.Sample{At: at, Value: c.args[0]})
	default:
		p.hear(place{at, c.start}, c.kind == wire.GoBlock)
	}
}

func (c *cursor) fail(pos int, err error) error {
	return &Error{Offset: c.offset + int64(pos), Reason: err.Error()}
}

// nanoseconds converts stamps. What is too far gives a negative time.
func nanoseconds(d stamp, unit float64) int64 {
	ns := float64(d) * unit
	if ns >= 1<<62 {
		return -1
	}
	return int64(ns)
}
