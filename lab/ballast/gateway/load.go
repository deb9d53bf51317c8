//go:build unix

package gateway

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"runtime/trace"
	"slices"
	"sync"
	"time"
)

// Phase is a rate for a time.
type Phase struct {
	Rate     float64 // requests a second; 0 is as fast as it goes
	Duration time.Duration
	Measured bool
}

// Result is what a load saw of the requests that were due while it was measured.
type Result struct {
	Requests int           // answered before the load's end
	Due      int           // by the schedule; Requests where the rate is 0
	Answers  []Answer      // the fastest first
	Measured time.Duration // of the measured phases, by the schedule
	Failed   error
}

// Answer is a request's time.
type Answer struct {
	Latency time.Duration // from when it was due
	Wait    time.Duration // of that, until a worker began with it
	// Idle says that the worker had slept until the request was due, so that Wait is
	// what the scheduler took to wake it, and not the time of other requests.
	Idle bool
}

// Quantile returns latency q of 0 to 1.
func (r Result) Quantile(q float64) time.Duration {
	if len(r.Answers) == 0 {
		return 0
	}
	return r.Answers[min(len(r.Answers)-1, int(q*float64(len(r.Answers))))].Latency
}

// Tail is where the slowest requests spent their time, in shares that make one.
type Tail struct {
	Woken  float64 // ready to run, before they did
	Queued float64 // behind others
	Served float64
}

// Tail returns it of all requests beyond quantile q.
func (r Result) Tail(q float64) Tail {
	var t Tail
	for _, a := range r.Answers[int(q*float64(len(r.Answers))):] {
		if a.Idle {
			t.Woken += a.Wait.Seconds()
		} else {
			t.Queued += a.Wait.Seconds()
		}
		t.Served += (a.Latency - a.Wait).Seconds()
	}
	if all := t.Woken + t.Queued + t.Served; all > 0 {
		t.Woken, t.Queued, t.Served = t.Woken/all, t.Queued/all, t.Served/all
	}
	return t
}

// Load is how a service is used: phases one after another, by a number of workers. A
// request's latency counts from when it is due, not from when a worker is free for it.
// Where an answer comes after the end of the phase, it counts as a latency but not
// as a request.
type Load struct {
	Workers int
	Phases  []Phase
	// Sockets is where requests come from; without a program, each worker sleeps until its next
	// one is due. Then they wait for the runtime's timers, which a collector that has
	// all CPUs does not look at (runtime.pollWork): what is late for that is late
	// by up to the 10 ms of a time slice, and again.
	Sockets Sockets

	prepared []Answer
}

// spare answers of each worker are more than what it is asked for beyond its share.
const spare = 256

// share returns how many answers a worker gives in p, or somewhat more.
func (l Load) share(p Phase) int { return spare + int(p.Rate*p.Duration.Seconds())/l.Workers }

// Prepare takes the memory that the measured answers will be kept in, all of it resident. Where memory is
// short, what measures then is among what was there before. Of a closed loop, whose answers
// nobody can count before, it takes none.
func (l *Load) Prepare() {
	most := 0
	for _, p := range l.Phases {
		if p.Measured {
			most = max(most, l.share(p))
		}
	}
	l.prepared = make([]Answer, l.Workers*most)
	for i := range l.prepared {
		l.prepared[i].Latency = -1
	}
}

// Run returns what the load saw. measuring is called around the measured phases.
func (l Load) Run(s *Service, measuring func(begin bool)) Result {
	var out Result
	for _, p := range l.Phases {
		if p.Measured {
			measuring(true)
		}
		l.phase(s, p, &out)
		if p.Measured {
			measuring(false)
			out.Measured += p.Duration
			out.Due += int(p.Rate * p.Duration.Seconds())
		}
		if out.Failed != nil {
			return out
		}
	}
	if out.Due == 0 {
		out.Due = out.Requests
	}
	slices.SortFunc(out.Answers, func(a, b Answer) int { return cmp.Compare(a.Latency, b.Latency) })
	return out
}

func (l Load) phase(s *Service, p Phase, out *Result) {
	var pace *pacing
	if l.Sockets.Program != "" {
		if pace, out.Failed = l.Sockets.start(l.Workers, p); out.Failed != nil {
			return
		}
	}
	start := time.Now()
	var wg sync.WaitGroup
	workers := make([]worker, l.Workers)
	for k := range workers {
		w := &workers[k]
		*w = worker{s: s, r: rand.New(rand.NewPCG(uint64(k), uint64(p.Rate))), end: start.Add(p.Duration)}
		w.due = start
		// What is measured must not be what measures: a large slice would be a ballast.
		if n := l.share(p); p.Measured && l.Workers*n <= len(l.prepared) {
			w.answers = l.prepared[k*n : k*n : (k+1)*n]
		} else {
			w.answers = make([]Answer, 0, n)
		}
		if pace != nil {
			w.conn = pace.conns[k]
		} else if p.Rate > 0 {
			w.period = time.Duration(float64(l.Workers) / p.Rate * 1e9)
			w.due = start.Add(w.period * time.Duration(k) / time.Duration(l.Workers))
		}
		wg.Go(w.run)
	}
	wg.Wait()
	if pace != nil {
		out.Failed = pace.stop()
	}
	for _, w := range workers {
		if w.failed != nil {
			out.Failed = w.failed
		}
	}
	if p.Measured {
		l.gather(workers, l.share(p), out)
	}
}

// gather puts the answers of all workers together: in place if they were prepared and none has
// given more than its share, for then no worker's begin before those of the ones before it end.
func (l Load) gather(workers []worker, share int, out *Result) {
	inPlace := len(out.Answers) == 0 && len(workers)*share <= len(l.prepared)
	for _, w := range workers {
		inPlace = inPlace && len(w.answers) <= share
	}
	if inPlace {
		out.Answers = l.prepared[:0]
	}
	for _, w := range workers {
		out.Requests += w.inTime
		out.Answers = append(out.Answers, w.answers...)
	}
}

type worker struct {
	s       *Service
	r       *rand.Rand
	end     time.Time
	conn    *os.File // nil: timers
	due     time.Time
	period  time.Duration // 0: as fast as it goes
	answers []Answer
	inTime  int
	bytes   int // of answers, so that they are not for nothing
	failed  error
}

// overtime is how long after a phase its late requests are still answered.
const overtime = 3 * time.Second

func (w *worker) run() {
	for {
		a, ok := w.next()
		if !ok {
			return
		}
		n, err := w.serve()
		if err != nil {
			w.failed = err
			return
		}
		w.bytes += n
		done := time.Now()
		a.Latency = done.Sub(w.due)
		w.answers = append(w.answers, a)
		if done.Before(w.end) {
			w.inTime++
		}
		w.due = w.due.Add(w.period)
	}
}

// next waits for the next request, if there is one.
func (w *worker) next() (Answer, bool) {
	now := time.Now()
	if now.Sub(w.end) > overtime {
		return Answer{}, false
	}
	if w.conn != nil {
		due, err := receive(w.conn)
		if err != nil {
			if err != io.EOF {
				w.failed = err
			}
			return Answer{}, false
		}
		w.due = due
		return Answer{Wait: time.Since(due), Idle: due.After(now)}, true
	}
	if w.period == 0 {
		w.due = now
	}
	if w.due.After(w.end) {
		return Answer{}, false
	}
	wait := w.due.Sub(now)
	if wait > 0 {
		time.Sleep(wait)
		now = time.Now()
	}
	return Answer{Wait: now.Sub(w.due), Idle: wait > 0}, true
}

// serve has a region in an execution trace.
func (w *worker) serve() (int, error) {
	if trace.IsEnabled() {
		defer trace.StartRegion(context.Background(), "request").End()
	}
	return w.s.Serve(w.r)
}
