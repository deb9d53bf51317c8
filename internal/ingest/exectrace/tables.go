package exectrace

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// tables is what a generation says once for all its events.
type tables struct {
	frequency uint64  // stamps a second
	scale     float64 // from those to stamps of the first generation
	snapshot  bool    // the clock was held against others
	strings   map[uint64]text
	data      []byte // the strings are in

	// Strings with a meaning of their own; 0 where the generation has none.
	assistWait                  uint64
	dedicated, fractional, idle uint64
}

// text is where a string stands in the data of its tables.
type text struct{ start, end int }

// The runtime's words, of runtime/traceruntime.go.
const (
	reasonAssistWait = "GC mark assist wait for work"
	labelDedicated   = "GC (dedicated)"
	labelFractional  = "GC (fractional)"
	labelIdle        = "GC (idle)"
)

// The data of a batch, besides tables, which have the kind of their first event.
const (
	eventData byte = 0
	extraData byte = wire.ExperimentalBatch
)

// holds says what the data of a batch is.
func (b *batch) holds(v version) byte {
	switch kind := b.first; {
	case b.extra:
		return extraData
	case kind == wire.Strings, kind == wire.Stacks, kind == wire.CPUSamples:
		return kind
	case kind == wire.Sync && v >= version125, kind == wire.Frequency && v < version125:
		return wire.Sync
	}
	return eventData
}

// readTables finds the clock and the strings of a generation.
func readTables(g *generation, v version) (*tables, error) {
	t := &tables{strings: map[uint64]text{}}
	for i := range g.batches {
		b := &g.batches[i]
		kind := b.holds(v)
		if kind != wire.Strings && kind != wire.Sync {
			continue
		}
		r, err := g.table(b, t.data)
		if err != nil {
			return nil, err
		}
		t.data = r.data
		if kind == wire.Strings {
			err = t.readStrings(r)
		} else {
			err = t.readClock(r, v)
		}
		if err != nil {
			return nil, r.fail(err)
		}
	}
	if t.frequency == 0 {
		return nil, &Error{Offset: g.offset, Reason: fmt.Sprintf("generation %d does not say how fast its clock is", g.id)}
	}
	if v >= version125 && !t.snapshot {
		return nil, &Error{Offset: g.offset, Reason: fmt.Sprintf("generation %d does not say what time it is", g.id)}
	}
	return t, nil
}

func (t *tables) readStrings(r *tableReader) error {
	r.pos++ // wire.Strings
	for r.pos < len(r.data) {
		if kind := r.byte(); kind != wire.String {
			return fmt.Errorf("event %d among strings", kind)
		}
		id, size := r.number(), r.number()
		if r.bad || size > maxString || int(size) > len(r.data)-r.pos {
			return fmt.Errorf("string %d is cut short, or longer than %d bytes", id, maxString)
		}
		if _, ok := t.strings[id]; ok || id == 0 {
			return fmt.Errorf("there are two strings %d", id) // 0 is the empty one
		}
		s := text{r.pos, r.pos + int(size)}
		t.strings[id] = s
		switch string(r.data[s.start:s.end]) {
		case reasonAssistWait:
			t.assistWait = id
		case labelDedicated:
			t.dedicated = id
		case labelFractional:
			t.fractional = id
		case labelIdle:
			t.idle = id
		}
		r.pos = s.end
	}
	return nil
}

func (t *tables) readClock(r *tableReader, v version) error {
	if v >= version125 {
		r.pos++ // wire.Sync
	}
	for r.pos < len(r.data) {
		switch kind := r.byte(); {
		case kind == wire.Frequency && t.frequency == 0:
			t.frequency = r.number()
		case kind == wire.ClockSnapshot && v >= version125 && !t.snapshot:
			t.snapshot = true
			for range 4 { // time, monotonic clock, seconds, nanoseconds
				r.number()
			}
		default:
			return fmt.Errorf("event %d among clocks, or a second one of its kind", kind)
		}
		if r.bad || t.frequency > 1e12 {
			return fmt.Errorf("a clock is cut short, or out of range")
		}
	}
	return nil
}

// lookup returns string id.
func (t *tables) lookup(id uint64) (string, bool) {
	s, ok := t.strings[id]
	if !ok {
		return "", id == 0
	}
	return t.text(s), true
}

func (t *tables) text(s text) string { return string(t.data[s.start:s.end]) }

// tableReader reads numbers from a batch.
type tableReader struct {
	data   []byte // up to the end of the batch
	pos    int
	offset int64 // in the file, of the first byte of data
	bad    bool  // a number was cut short or too long
}

// table returns a reader of a batch, which is read behind data.
func (g *generation) table(b *batch, data []byte) (*tableReader, error) {
	start, size := len(data), b.end-b.start
	data = slices.Grow(data, size+wire.Slack)[:start+size+wire.Slack]
	if err := g.load(b, data[start:]); err != nil {
		return nil, err
	}
	return &tableReader{data: data[:start+size], pos: start, offset: g.offset + int64(b.start-start)}, nil
}

func (r *tableReader) fail(err error) error {
	return &Error{Offset: r.offset + int64(r.pos), Reason: err.Error()}
}

func (r *tableReader) byte() byte {
	b := r.data[r.pos]
	r.pos++
	return b
}

func (r *tableReader) number() uint64 {
	v, n := binary.Uvarint(r.data[r.pos:])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.pos += n
	return v
}
