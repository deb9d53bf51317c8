package gateway

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
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

// Load runs the phases one after another with a number of workers. A request's
// latency counts from when it is due, not from when a worker is free for it.
// Where an answer comes after the end of the phase, it counts as a latency but not
// as a request.
func (s *Service) Load(workers int, phases []Phase, measuring func(begin bool)) Result {
	start := time.Now()
	var out Result
	var mu sync.Mutex
	var sent atomic.Int64
	for _, p := range phases {
		if p.Measured {
			measuring(true)
		}
		var wg sync.WaitGroup
		end := start.Add(p.Duration)
		for k := range workers {
			wg.Go(func() {
				w := worker{s: s, r: rand.New(rand.NewPCG(uint64(k), uint64(p.Rate))), phase: p, end: end}
				w.run(start, k, workers)
				sent.Add(int64(w.bytes))
				mu.Lock()
				defer mu.Unlock()
				if w.failed != nil {
					out.Failed = w.failed
				}
				if p.Measured {
					out.Requests += w.inTime
					out.Answers = append(out.Answers, w.answers...)
				}
			})
		}
		wg.Wait()
		if p.Measured {
			measuring(false)
			out.Measured += p.Duration
			out.Due += int(p.Rate * p.Duration.Seconds())
		}
		start = time.Now()
	}
	if out.Due == 0 {
		out.Due = out.Requests
	}
	slices.SortFunc(out.Answers, func(a, b Answer) int { return cmp.Compare(a.Latency, b.Latency) })
	return out
}

type worker struct {
	s       *Service
	r       *rand.Rand
	phase   Phase
	end     time.Time
	answers []Answer
	inTime  int
	bytes   int
	failed  error
}

// overtime is how long after a phase its late requests are still answered.
const overtime = 3 * time.Second

func (w *worker) run(start time.Time, k, workers int) {
	var period time.Duration
	if w.phase.Rate > 0 {
		period = time.Duration(float64(workers) / w.phase.Rate * 1e9)
	}
	due := start.Add(period * time.Duration(k) / time.Duration(workers))
	// What is measured must not be what measures: a large slice would be a ballast.
	w.answers = make([]Answer, 0, 1024+int(w.phase.Rate*w.phase.Duration.Seconds())/workers)
	for {
		now := time.Now()
		if period == 0 {
			due = now
		}
		if due.After(w.end) || now.Sub(w.end) > overtime {
			return
		}
		wait := due.Sub(now)
		if wait > 0 {
			time.Sleep(wait)
			now = time.Now()
		}
		n, err := w.serve()
		if err != nil {
			w.failed = err
			return
		}
		w.bytes += n
		done := time.Now()
		w.answers = append(w.answers, Answer{Latency: done.Sub(due), Wait: now.Sub(due), Idle: wait > 0})
		if done.Before(w.end) {
			w.inTime++
		}
		due = due.Add(period)
	}
}

// serve has a region in an execution trace.
func (w *worker) serve() (int, error) {
	if trace.IsEnabled() {
		defer trace.StartRegion(context.Background(), "request").End()
	}
	return w.s.Serve(w.r)
}
