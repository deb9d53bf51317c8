package exectrace

import (
	"errors"
	"io"
	"sync"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/wire"
)

// Events calls visit for each event of the trace in r that is of one of the
// kinds, in the order in which they happened, while the next ones are being
// read. Of a trace that is cut short it gives the complete generations, and
// then the same error that Scan does; other errors are an *Error too, and come
// when the events before them have been visited. An event and what its numbers
// stand for are valid until visit returns, and nobody else has them.
//
// Between two generations there is an EventSync, also before the first one and
// after the last one.
func Events(r io.Reader, kinds Kinds, visit func(*Event, *Names)) error {
	v, err := readHeader(r)
	if err != nil {
		return err
	}
	const ahead = 4
	full, empty := make(chan *bunch, ahead), make(chan *bunch, ahead)
	for range ahead {
		empty <- &bunch{}
	}
	stop := make(chan struct{})
	var order sync.WaitGroup
	defer order.Wait()
	defer close(stop)
	var readErr error
	order.Go(func() {
		defer close(full)
		m := &merger{version: v, counts: wire.Arguments()}
		m.order = newOrder(outlet{kinds: kinds, full: full, empty: empty, stop: stop, bunch: <-empty})
		readErr = m.run(newFramer(r, v))
	})
	for b := range full {
		for i := range b.events[:b.n] {
			visit(&b.events[i], &b.names)
		}
		empty <- b
	}
	return readErr
}

// run gives all events.
func (m *merger) run(f *framer) (err error) {
	generations := make(chan *generation)
	stop := make(chan struct{})
	var readErr error
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(generations)
		readErr = f.readAll(generations, stop)
	})
	for g := range generations {
		if err = m.merge(g); err != nil || m.out.stopped {
			break
		}
		f.release(g)
	}
	close(stop)
	reader.Wait()
	if err == nil {
		err = readErr
	}
	among := (*midway)(nil)
	if errors.As(err, &among) {
		err = among.error
	} else {
		m.sync(m.out.last)
	}
	m.out.hand()
	return err
}
