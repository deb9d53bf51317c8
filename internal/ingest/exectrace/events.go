package exectrace

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/exp/trace"
)

// Kinds is a set of kinds of event.
type Kinds uint64

// KindsOf returns the set of some kinds.
func KindsOf(kinds ...trace.EventKind) Kinds {
	var set Kinds
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// Events calls visit for each event of the trace in r that is of one of the
// kinds, in the order in which they happened. Of a trace that is
// cut short it gives the complete generations, and then the same error that
// Scan does; other errors come when the events before them have been visited.
// An event is valid until visit returns, and nobody else may hold it: reading
// on changes the table of the generation that its strings are in.
func Events(r io.Reader, kinds Kinds, visit func(*trace.Event)) error {
	v, err := readHeader(r)
	if err != nil {
		return err
	}
	w := newWhole(r, v)
	events, err := trace.NewReader(w)
	if err != nil {
		return fmt.Errorf("read execution trace: %w", err)
	}
	for {
		ev, err := w.event(events)
		switch {
		case errors.Is(err, io.EOF):
			return w.err
		case err != nil:
			return err
		}
		if kinds>>ev.Kind()&1 != 0 {
			visit(&ev)
		}
	}
}

// event reads the next event.
func (w *whole) event(r *trace.Reader) (ev trace.Event, err error) {
	defer func() {
		// The reader is made for traces of the runtime; what it makes of
		// others should not bring us down.
		if p := recover(); p != nil {
			err = &Error{Offset: w.framer.offset, Reason: fmt.Sprintf("near this place: the reader of events cannot go on: %v", p)}
		}
	}()
	if ev, err = r.ReadEvent(); err != nil && !errors.Is(err, io.EOF) {
		err = &Error{Offset: w.framer.offset, Reason: "near this place: " + firstLine(err)}
	}
	return ev, err
}

// firstLine leaves out the state of all threads, which errors of the reader
// may bring along.
func firstLine(err error) string {
	s := err.Error()
	for i, c := range s {
		if c == '\n' {
			return s[:i]
		}
	}
	return s
}

// whole reads the complete generations of a trace. What comes instead of the
// next one is kept in err.
type whole struct {
	framer *framer
	rest   []byte
	last   *generation
	err    error
	done   bool
}

func newWhole(r io.Reader, v version) *whole {
	header := fmt.Appendf(nil, "go 1.%d trace\x00\x00\x00", v)
	return &whole{framer: newFramer(r, v), rest: header}
}

// Read implements io.Reader.
func (w *whole) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		if w.done {
			return 0, io.EOF
		}
		if w.last != nil {
			w.framer.release(w.last)
			w.last = nil
		}
		g, err := w.framer.next()
		if err != nil {
			w.done = true
			if !errors.Is(err, io.EOF) {
				w.err = err
			}
			return 0, io.EOF
		}
		w.last, w.rest = g, g.data[:g.size]
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}
