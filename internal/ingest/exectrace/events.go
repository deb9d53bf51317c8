package exectrace

import (
	"errors"
	"io"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// Events calls visit for each event of the trace in r that is of one of the
// kinds, in the order in which they happened. Of a trace that is cut short it gives the complete generations, and
// then the same error that Scan does; other errors are an *Error too, and come
// when the events before them have been visited. An event and what its numbers
// stand for are valid until visit returns, and nobody else has them.
//
// Between two generations there is an EventSync, also before the first one and
// after the last one.
//
// All happens on one goroutine: to hand events to another one costs more than most
// visits do.
func Events(r io.Reader, kinds Kinds, visit func(*Event, *Names)) error {
	v, err := readHeader(r)
	if err != nil {
		return err
	}
	m := &merger{version: v, counts: wire.Arguments(), order: newOrder(outlet{kinds: kinds, visit: visit})}
	err = m.run(newFramer(r, v))
	if among := (*midway)(nil); errors.As(err, &among) {
		return among.error
	}
	m.sync(m.out.last)
	return err
}

// run gives all events.
func (m *merger) run(f *framer) error {
	for {
		g, err := f.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := m.merge(g); err != nil {
			return err
		}
		f.release(g)
	}
}
