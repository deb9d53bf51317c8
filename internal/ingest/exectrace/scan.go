package exectrace

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// Scan reads the trace in r for what memory management did. With an error it
// returns what was read of the trace before, which is right as far as it goes;
// the Summary is nil only where not even the header is one. An error in the
// trace is an *Error; Truncated tells those that say no more than that the
// trace is cut short.
//
// A trace of Go 1.22 to 1.25 that was cut between two batches of its last
// generation can not be told from a whole one.
func Scan(r io.Reader, o Options) (*Summary, error) {
	v, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	s := &scanner{version: v, threads: map[uint64]thread{}, chains: map[uint64]chain{}, account: newAccount()}
	for range o.Workers {
		s.parsers = append(s.parsers, &parser{skip: skippable()})
	}
	err = s.run(r)
	return s.summary(s, v), err
}

// scanner reads a trace, one generation after the other.
type scanner struct {
	version     version
	parsers     []*parser
	results     []result // of the batches of the generation
	scratch     found    // of the generation, for the next one to use again
	threads     map[uint64]thread
	chains      map[uint64]chain
	generations int
	batches     int
	size        int64
	*account
}

// run scans generations while the next one is being read.
func (s *scanner) run(r io.Reader) error {
	f := newFramer(r, s.version)
	s.size = headerSize
	generations := make(chan *generation)
	stop := make(chan struct{})
	var readErr error
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(generations)
		readErr = f.readAll(generations, stop)
	})
	var err error
	for g := range generations {
		if err = s.generation(g); err != nil {
			break
		}
		f.release(g)
	}
	close(stop)
	reader.Wait()
	if err != nil {
		return err
	}
	return readErr
}

func (f *framer) readAll(out chan<- *generation, stop <-chan struct{}) error {
	for {
		g, err := f.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		select {
		case out <- g:
		case <-stop:
			return nil
		}
	}
}

// generation scans one generation and adds it to what there is, or leaves that
// as it is.
func (s *scanner) generation(g *generation) error {
	t, err := readTables(g, s.version)
	if err != nil {
		return err
	}
	t.scale = s.account.clock(t.frequency)
	r := &rules{tables: t}
	if err := s.parse(g, r, nil); err != nil {
		return err
	}
	st, err := s.stitch(g, r)
	if err != nil {
		return err
	}
	if len(st.gaps) > 0 {
		// A goroutine in an assist may have run without our having been told.
		// Look at its legs one by one.
		r = &rules{tables: t, wanted: st.gaps}
		if err := s.parse(g, r, st.windows); err != nil {
			return err
		}
		if st, err = s.stitch(g, r); err != nil {
			return err
		}
	}
	if err := s.add(g, st, s.results[:len(g.batches)]); err != nil {
		return err
	}
	s.threads, s.chains = st.threads, st.chains
	s.generations++
	s.batches += len(g.batches)
	s.size = g.offset + int64(g.size)
	return nil
}

// parse fills the results with the batches of g, in parallel; with windows,
// only with those that have events in one.
func (s *scanner) parse(g *generation, r *rules, only []window) error {
	for len(s.results) < len(g.batches) {
		s.results = append(s.results, result{})
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for _, p := range s.parsers {
		workers.Go(func() {
			p.data, p.rules = g.data, r
			for {
				i := int(next.Add(1)) - 1
				if i >= len(g.batches) {
					return
				}
				b, res := &g.batches[i], &s.results[i]
				switch {
				case only != nil && !touches(only, res):
				case b.extra || special(g.data[b.start:b.end], s.version) != 0:
					res.reset()
				default:
					p.run(b, res)
					if r.scale != 1 {
						res.rescale(r.scale)
					}
				}
			}
		})
	}
	workers.Wait()
	for i := range g.batches {
		if e := (*positioned)(nil); errors.As(s.results[i].err, &e) {
			return &Error{Offset: g.offset + int64(e.pos), Reason: e.Error()}
		}
	}
	return nil
}

func touches(windows []window, r *result) bool {
	for _, w := range windows {
		if r.events > 0 && r.first <= w.to && r.last >= w.from {
			return true
		}
	}
	return false
}

func missingString(g *generation, id uint64) error {
	return &Error{Offset: g.offset, Reason: fmt.Sprintf("generation %d refers to string %d, which it does not have", g.id, id)}
}
