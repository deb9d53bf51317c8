package load_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/load"
)

// patience is long because the event is certain, but the machine may be busy.
const patience = 10 * time.Minute

func TestRunCounts(t *testing.T) {
	var served, posts atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("X-Kind") == "test" && r.ProtoMajor == 1 {
			posts.Add(1)
		}
		if served.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer s.Close()
	r, err := load.Run(context.Background(), load.Options{
		URL: s.URL, Method: "POST", Body: []byte("x"), Header: http.Header{"X-Kind": {"test"}},
		Phases:  []load.Phase{{Rate: 1000, For: 200 * time.Millisecond}, {Rate: 500, For: 200 * time.Millisecond}},
		Timeout: patience, Grace: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Due != 300 || r.Done+r.Failed != 300 || r.Failed != 30 || r.Unsent != 0 || posts.Load() != 300 {
		t.Errorf("due %d, done %d, failed %d, unsent %d, of the right kind %d; want 300, 270, 30, 0, 300", r.Due, r.Done, r.Failed, r.Unsent, posts.Load())
	}
	if r.Error == nil || r.Latency.N() != r.Done || r.Phases[0].N()+r.Phases[1].N() != r.Done {
		t.Errorf("error %v, latencies %d of %d", r.Error, r.Latency.N(), r.Done)
	}
}

// A service that stalls once keeps every request waiting that is due during the stall.
// Their latencies must show it, although only the workers' requests were under way.
func TestRunSeesRequestsThatWait(t *testing.T) {
	const stall = 300 * time.Millisecond
	var first atomic.Bool
	var free atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if first.CompareAndSwap(false, true) {
			free.Store(time.Now().Add(stall).UnixNano())
		}
		time.Sleep(time.Until(time.Unix(0, free.Load())))
	}))
	defer s.Close()
	r, err := load.Run(context.Background(), load.Options{
		URL: s.URL, Workers: 2, Phases: []load.Phase{{Rate: 200, For: stall}}, Timeout: patience, Grace: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	// Requests are due evenly over the stall, so half of them wait for half of it.
	if got := r.Latency.Quantile(0.5); r.Done != 60 || got < stall/3 {
		t.Errorf("%d done, median latency %v; want 60, and about half of %v", r.Done, got, stall)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	r, err := load.Run(ctx, load.Options{URL: s.URL, Phases: []load.Phase{{Rate: 10, For: time.Hour}}})
	if !errors.Is(err, context.DeadlineExceeded) || r.Due != 36000 || r.Unsent < 35000 {
		t.Errorf("error %v, due %d, unsent %d; want a deadline, 36000, and nearly all", err, r.Due, r.Unsent)
	}
}

func TestOptionsRefused(t *testing.T) {
	f := func(what string, o load.Options) {
		t.Helper()
		if _, err := load.Run(context.Background(), o); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	ok := []load.Phase{{Rate: 1, For: time.Second}}
	f("no phase", load.Options{URL: "http://127.0.0.1:1/"})
	f("no rate", load.Options{URL: "http://127.0.0.1:1/", Phases: []load.Phase{{For: time.Second}}})
	f("no time", load.Options{URL: "http://127.0.0.1:1/", Phases: []load.Phase{{Rate: 1}}})
	f("no host", load.Options{URL: "/path", Phases: ok})
	f("another scheme", load.Options{URL: "ftp://127.0.0.1/", Phases: ok})
	f("an invalid method", load.Options{URL: "http://127.0.0.1:1/", Method: "a b", Phases: ok})
	f("negative workers", load.Options{URL: "http://127.0.0.1:1/", Workers: -1, Phases: ok})
	if _, err := load.Run(context.Background(), load.Options{URL: "http://192.0.2.1/", Phases: ok}); !errors.Is(err, load.ErrRemote) {
		t.Errorf("another host: %v, want %v", err, load.ErrRemote)
	}
}

func TestStorm(t *testing.T) {
	p := load.Storm(100, 20, 10*time.Second)
	if len(p) != 3 || p[0].Rate != 100 || p[1].Rate != 2000 || p[2].Rate != 100 || p[0].For+p[1].For+p[2].For != 10*time.Second {
		t.Errorf("got %v", p)
	}
}

func TestHistogram(t *testing.T) {
	var h load.Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a quantile")
	}
	for i := range 10_000 {
		h.Record(time.Duration(i+1) * 100 * time.Microsecond)
	}
	for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		want := time.Duration(q * 1e9)
		if got := h.Quantile(q); got < want || float64(got) > float64(want)*1.017 {
			t.Errorf("quantile %v: got %v, want %v and at most 1.7 %% more", q, got, want)
		}
	}
	h.Record(-time.Second)
	h.Record(100 * time.Hour)
	if h.N() != 10_002 || h.Max() != 100*time.Hour || h.Quantile(1) != 100*time.Hour {
		t.Errorf("got %d, max %v", h.N(), h.Max())
	}
}
