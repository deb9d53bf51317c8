package exectrace

import (
	"encoding/binary"
	"fmt"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// tables is what a generation says once for all its events.
type tables struct {
	frequency uint64  // stamps a second
	scale     float64 // from those to stamps of the first generation
	snapshot  bool    // the clock was held against others
	strings   map[uint64]text

	// Strings with a meaning of their own; 0 where the generation has none.
	assistWait                  uint64
	dedicated, fractional, idle uint64
}

// text is where a string stands in the data of its generation.
type text struct{ start, end int }

// The runtime's words, of runtime/traceruntime.go.
const (
	reasonAssistWait = "GC mark assist wait for work"
	labelDedicated   = "GC (dedicated)"
	labelFractional  = "GC (fractional)"
	labelIdle        = "GC (idle)"
)

// special says what kind of table the data of a batch is; 0 for events.
func special(data []byte, v version) byte {
	if len(data) == 0 {
		return 0
	}
	switch kind := data[0]; {
	case kind == wire.Strings, kind == wire.Stacks, kind == wire.CPUSamples:
		return kind
	case kind == wire.Sync && v >= version125, kind == wire.Frequency && v < version125:
		return wire.Sync
	}
	return 0
}

// readTables finds the clock and the strings of a generation.
func readTables(g *generation, v version) (*tables, error) {
	t := &tables{strings: map[uint64]text{}}
	for _, b := range g.batches {
		if b.extra {
			continue
		}
		r := tableReader{g: g, pos: b.start, end: b.end}
		var err error
		switch special(g.data[b.start:b.end], v) {
		case wire.Strings:
			err = t.readStrings(&r)
		case wire.Sync:
			err = t.readClock(&r, v)
		}
		if err != nil {
			return nil, &Error{Offset: g.offset + int64(r.pos), Reason: err.Error()}
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
	for r.pos < r.end {
		if kind := r.byte(); kind != wire.String {
			return fmt.Errorf("event %d among strings", kind)
		}
		id, size := r.number(), r.number()
		if r.bad || size > maxString || int(size) > r.end-r.pos {
			return fmt.Errorf("string %d is cut short, or longer than %d bytes", id, maxString)
		}
		if _, ok := t.strings[id]; ok || id == 0 {
			return fmt.Errorf("there are two strings %d", id) // 0 is the empty one
		}
		s := text{r.pos, r.pos + int(size)}
		t.strings[id] = s
		switch string(r.g.data[s.start:s.end]) {
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
	for r.pos < r.end {
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

// lookup returns string id, which data of the tables' generation holds.
func (t *tables) lookup(g *generation, id uint64) (string, bool) {
	s, ok := t.strings[id]
	if !ok {
		return "", id == 0
	}
	return string(g.data[s.start:s.end]), true
}

// tableReader reads numbers from a batch.
type tableReader struct {
	g        *generation
	pos, end int
	bad      bool // a number was cut short or too long
}

func (r *tableReader) byte() byte {
	b := r.g.data[r.pos]
	r.pos++
	return b
}

func (r *tableReader) number() uint64 {
	v, n := binary.Uvarint(r.g.data[r.pos:r.end])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.pos += n
	return v
}
