package exectrace

import (
	"io"
	"runtime"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/hop"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace/relay"
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
// All happens on one goroutine: to hand events to another one costs more than a short
// visit does.
func Events(r io.Reader, kinds Kinds, visit func(*Event, *Names)) error {
	_, err := events(r, outlet{kinds: kinds, visit: visit}, false)
	return err
}

// ScanEvents is Events and Scan at once, in less time than both. Where there are two processors, visit is called on a
// goroutine of its own, and every call has ended when ScanEvents returns. Where the trace has an error, there is no
// Summary; Scan returns one.
func ScanEvents(r io.Reader, kinds Kinds, visit func(*Event, *Names)) (*Summary, error) {
	o := outlet{kinds: kinds, visit: visit}
	if runtime.GOMAXPROCS(0) == 1 {
		return events(r, o, true)
	}
	to, stop := relay.New(visit, func(n *Names) {
		clear(n.late)
		n.late = n.late[:0]
	})
	defer stop()
	o.relay = to
	return events(r, o, true)
}

func events(r io.Reader, o outlet, scan bool) (*Summary, error) {
	v, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	m := &merger{version: v, counts: wire.Arguments(), order: newOrder(o)}
	defer m.order.out.rename(nil)
	if scan {
		m.scan, m.kinds = newScanner(v, runtime.GOMAXPROCS(0)), hop.Kinds(false)
	}
	f := newFramer(r, v)
	err = f.each(func(g *generation) error {
		defer f.release(g)
		return m.merge(g)
	})
	if m.midway {
		return nil, err
	}
	m.sync(m.order.out.last)
	if err != nil || m.scan == nil {
		return nil, err
	}
	return m.scan.sums.summary(m.scan, v), nil
}
