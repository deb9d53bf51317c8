package exectrace

import (
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
	s := newScanner(v, o.Workers)
	err = s.run(r)
	return s.sums.summary(s, v), err
}

// scanner reads a trace, one generation after the other.
type scanner struct {
	version     version
	workers     int
	again       []*worker     // for a generation that needs a second look
	scratch     found         // of the generation, for the next one to use again
	assists     []assistShare // the same
	threads     map[uint64]thread
	chains      map[uint64]chain
	frequency   uint64 // of the first generation
	generations int
	batches     int
	size        int64
	sums        *account
}

func newScanner(v version, workers int) *scanner {
	return &scanner{version: v, workers: workers, threads: map[uint64]thread{}, chains: map[uint64]chain{}, sums: newAccount()}
}

// parsed is a generation whose batches have been read, each by itself.
type parsed struct {
	*generation
	rules   *rules
	results []result // of the batches
	err     error
}

// run puts generations together while the batches of the next one are being
// parsed, and the one after that is being read.
func (s *scanner) run(r io.Reader) error {
	f := newFramer(r, s.version)
	s.size = headerSize
	generations := make(chan *generation)
	full, empty := make(chan *parsed), make(chan *parsed, 2)
	for range min(s.workers, cap(empty)) { // one worker gains nothing from going ahead
		empty <- &parsed{}
	}
	stop := make(chan struct{})
	var readErr error
	var ahead sync.WaitGroup
	ahead.Go(func() {
		defer close(generations)
		readErr = f.each(func(g *generation) error {
			select {
			case generations <- g:
				return nil
			case <-stop:
				return io.EOF // put failed, which is told
			}
		})
	})
	ahead.Go(func() {
		defer close(full)
		s.parseAll(generations, full, empty, stop)
	})
	var err error
	for p := range full {
		if err = s.put(p); err != nil {
			break
		}
		f.release(p.generation)
		empty <- p
	}
	close(stop)
	ahead.Wait()
	if err != nil {
		return err
	}
	return readErr
}

// parseAll parses the batches of generations, until one is broken.
func (s *scanner) parseAll(in <-chan *generation, out chan<- *parsed, empty <-chan *parsed, stop <-chan struct{}) {
	workers := newWorkers(s.workers, false)
	for g := range in {
		var p *parsed
		select {
		case p = <-empty:
		case <-stop:
			return
		}
		var t *tables
		if t, p.err = readTables(g, s.version); p.err == nil {
			s.open(p, g, t)
			p.err = p.parse(workers, s.version, nil)
		}
		select {
		case out <- p:
		case <-stop:
			return
		}
		if p.err != nil {
			return
		}
	}
}

// open makes p ready for a generation.
func (s *scanner) open(p *parsed, g *generation, t *tables) {
	if s.frequency == 0 {
		s.frequency = t.frequency
	}
	t.scale = float64(s.frequency) / float64(t.frequency)
	p.generation, p.rules = g, &rules{tables: t}
	for len(p.results) < len(g.batches) {
		p.results = append(p.results, result{})
	}
}

// put adds a generation to what there is, or leaves that as it is.
func (s *scanner) put(p *parsed) error {
	if p.err != nil {
		return p.err
	}
	s.sums.clock(p.rules.frequency)
	st, err := s.stitch(p)
	if err != nil {
		return err
	}
	if len(st.gaps) > 0 {
		// A goroutine in an assist may have run without our having been told.
		// Look at its legs one by one.
		if s.again == nil {
			s.again = newWorkers(s.workers, true)
		}
		p.rules = &rules{tables: p.rules.tables, wanted: st.gaps}
		if err := p.parse(s.again, s.version, st.windows); err != nil {
			return err
		}
		if st, err = s.stitch(p); err != nil {
			return err
		}
	}
	if err := s.sums.add(p, st); err != nil {
		return err
	}
	s.threads, s.chains = st.threads, st.chains
	s.generations++
	s.batches += len(p.batches)
	s.size = p.offset + int64(p.size)
	return nil
}

func newWorkers(n int, always bool) []*worker {
	var list []*worker
	for range n {
		list = append(list, newWorker(always))
	}
	return list
}

// parse fills the results with the batches, in parallel; with windows, only
// with those that have events in one.
func (p *parsed) parse(workers []*worker, v version, only []window) error {
	var last atomic.Int64
	next := func() (*batch, *result) {
		for {
			i := int(last.Add(1)) - 1
			if i >= len(p.batches) {
				return nil, nil
			}
			b, res := &p.batches[i], &p.results[i]
			switch {
			case only != nil && !touches(only, res):
			case b.holds(v) != eventData:
				res.reset()
			default:
				return b, res
			}
		}
	}
	var busy sync.WaitGroup
	for _, w := range workers {
		busy.Go(func() { w.run(p, next) })
	}
	busy.Wait()
	return p.broken()
}

// broken returns the error of the first batch that has one; nil if none has.
func (p *parsed) broken() error {
	for i := range p.batches {
		if err := p.results[i].err; err != nil {
			return err
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
