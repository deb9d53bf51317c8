// Package load is an open-loop generator of HTTP/1.1 requests. Requests are due at a
// fixed rate whatever the service does, and each one's latency counts from its due
// time. A service that stalls is therefore charged with all requests that it kept
// waiting, not only with those under way at that moment.
package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Phase is a request rate for a length of time.
type Phase struct {
	Rate float64 // requests a second, above 0
	For  time.Duration
}

// Storm is the load of a refresh storm: for a third of the time at rate, then suddenly
// at times as much for a third, then at rate again.
func Storm(rate, times float64, d time.Duration) []Phase {
	third := d / 3
	return []Phase{{rate, third}, {rate * times, third}, {rate, d - 2*third}}
}

// Options say what to request and how often.
type Options struct {
	URL    string
	Method string // "" is GET
	Body   []byte
	Header http.Header
	Phases []Phase
	// Workers is the largest number of concurrent requests; 0 means 256. If all workers
	// are busy, requests wait, and their latency grows.
	Workers int
	// Timeout of a request; 0 means 10 s.
	Timeout time.Duration
	// Grace is how long after the last phase overdue requests are still sent; 0 means 5 s.
	// The rest become Result.Unsent.
	Grace time.Duration
	// Remote allows hosts other than this machine.
	Remote bool
}

// Result is the outcome of a load.
type Result struct {
	Due     int64 // by the schedule
	Done    int64 // answered with a status below 500
	Failed  int64 // not answered, or with 500 and above
	Unsent  int64 // not sent before the load ended
	Elapsed time.Duration
	Latency Histogram // of answered requests, from their due time
	Phases  []Histogram
	Error   error // the first failure
}

// ErrRemote means that a URL points to another machine.
var ErrRemote = errors.New("the host is not this machine")

// Run sends the requests and waits for the end. When ctx ends, the result holds what
// was done until then and the error is ctx's. The schedule does not depend on answers:
// if all workers are busy, due requests are sent late.
func Run(ctx context.Context, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := o.check(ctx); err != nil {
		return nil, err
	}
	g := &generator{o: o, schedule: scheduleOf(o.Phases), result: &Result{Phases: make([]Histogram, len(o.Phases))}}
	g.client = &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			MaxIdleConns: o.Workers, MaxIdleConnsPerHost: o.Workers, DisableCompression: true,
			// An empty map keeps HTTP/2 off.
			TLSNextProto: nil, ForceAttemptHTTP2: false,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer g.client.CloseIdleConnections()
	g.start = time.Now()
	var wg sync.WaitGroup
	for range o.Workers {
		wg.Go(func() { g.work(ctx) })
	}
	wg.Wait()
	r := g.result
	r.Due, r.Elapsed = g.schedule.count, time.Since(g.start)
	r.Unsent = r.Due - r.Done - r.Failed
	for i := range r.Phases {
		r.Latency.Add(&r.Phases[i])
	}
	return r, ctx.Err()
}

func (o Options) withDefaults() (Options, error) {
	if o.Method == "" {
		o.Method = http.MethodGet
	}
	if o.Workers == 0 {
		o.Workers = 256
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	if o.Workers < 1 || o.Workers > 1<<16 || o.Timeout < 0 || o.Grace < 0 {
		return o, errors.New("workers must be from 1 to 65536, and times not negative")
	}
	if len(o.Phases) == 0 {
		return o, errors.New("a load needs a phase")
	}
	for _, p := range o.Phases {
		if !(p.Rate > 0 && p.Rate <= maxRate) || p.For <= 0 || p.For > maxFor {
			return o, fmt.Errorf("phase of %v requests a second for %v: want a rate above 0 up to %d, and a time above 0 up to %v", p.Rate, p.For, int(maxRate), maxFor)
		}
	}
	return o, nil
}

const (
	maxRate = 1e7
	maxFor  = 24 * time.Hour
)

// check keeps a load on this machine unless Remote is set: a load on somebody else's
// service by mistake is an attack.
func (o Options) check(ctx context.Context) error {
	u, err := url.Parse(o.URL)
	if err != nil {
		return err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("%s: want http://host:port/path", o.URL)
	}
	if _, err := http.NewRequest(o.Method, o.URL, nil); err != nil {
		return err
	}
	if o.Remote {
		return nil
	}
	addrs, err := net.DefaultResolver.LookupIPAddr(ctx, u.Hostname())
	if err != nil {
		return err
	}
	for _, a := range addrs {
		if !a.IP.IsLoopback() {
			return fmt.Errorf("%s: %w (-remote allows it)", u.Hostname(), ErrRemote)
		}
	}
	return nil
}

// schedule says when each request is due.
type schedule struct {
	phases []Phase
	first  []int64 // number of the first request of each phase
	begins []time.Duration
	count  int64
}

func scheduleOf(phases []Phase) schedule {
	s := schedule{phases: phases}
	at := time.Duration(0)
	for _, p := range phases {
		s.first, s.begins = append(s.first, s.count), append(s.begins, at)
		s.count += max(1, int64(p.Rate*p.For.Seconds()))
		at += p.For
	}
	return s
}

// due returns when request n is due, relative to the start, and its phase.
func (s schedule) due(n int64) (time.Duration, int) {
	i := len(s.phases) - 1
	for i > 0 && n < s.first[i] {
		i--
	}
	return s.begins[i] + time.Duration(float64(n-s.first[i])/s.phases[i].Rate*float64(time.Second)), i
}

func (s schedule) end() time.Duration {
	last := len(s.phases) - 1
	return s.begins[last] + s.phases[last].For
}

// generator is one running load.
type generator struct {
	o        Options
	schedule schedule
	client   *http.Client
	start    time.Time
	next     atomic.Int64

	mu     sync.Mutex
	result *Result
}

// work sends requests, each when it is due or as soon as this worker is free.
func (g *generator) work(ctx context.Context) {
	own := make([]Histogram, len(g.o.Phases))
	var done, failed int64
	var first error
	for ctx.Err() == nil {
		n := g.next.Add(1) - 1
		if n >= g.schedule.count {
			break
		}
		due, phase := g.schedule.due(n)
		if time.Since(g.start) > g.schedule.end()+g.o.Grace || !sleepUntil(ctx, g.start.Add(due)) {
			break
		}
		err := g.request(ctx)
		switch {
		case err == nil:
			done++
			own[phase].Record(time.Since(g.start) - due)
		case ctx.Err() != nil:
		default:
			failed++
			if first == nil {
				first = err
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	r := g.result
	r.Done, r.Failed = r.Done+done, r.Failed+failed
	if r.Error == nil {
		r.Error = first
	}
	for i := range own {
		r.Phases[i].Add(&own[i])
	}
}

// sleepUntil waits until at. It returns false if ctx ends first.
func sleepUntil(ctx context.Context, at time.Time) bool {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (g *generator) request(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, g.o.Method, g.o.URL, bytes.NewReader(g.o.Body))
	if err != nil {
		return err
	}
	for k, v := range g.o.Header {
		req.Header[k] = v
	}
	resp, err := g.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s %s: %s", g.o.Method, g.o.URL, resp.Status)
	}
	return nil
}
