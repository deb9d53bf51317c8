package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/heaptrim/heaptrim/examples/gateway"
)

// server is a gateway that serves on a free port.
type server struct {
	base          string // URL
	authorization string
	cancel        context.CancelFunc
	done          chan error // what serve returned
}

func start(t *testing.T, o options, config gateway.Config) server {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := server{cancel: cancel, done: make(chan error, 1)}
	o.addr = "127.0.0.1:0"
	config.Services, config.Secret = gateway.FakeServices(), []byte("test")
	out, in := io.Pipe()
	go func() {
		s.done <- serve(ctx, o, config, in)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	lines.Scan()
	s.base = strings.TrimPrefix(lines.Text(), "listening on ")
	lines.Scan()
	_, s.authorization, _ = strings.Cut(lines.Text(), ": ")
	return s
}

func (s server) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	if err := <-s.done; err != nil {
		t.Errorf("serve = %v after cancel, want nil", err)
	}
}

func TestServe(t *testing.T) {
	s := start(t, options{}, gateway.Config{})
	defer s.stop(t)
	f := func(path string, want int) {
		t.Helper()
		req, err := http.NewRequest("GET", s.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", s.authorization)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("GET %s = %s, want %d", path, resp.Status, want)
		}
	}
	f("/v1/users/u-1", 200)
	f("/v1/users/u-0", 404)
}

// routesSeen is an access log that waits for requests to some routes.
type routesSeen struct {
	mu      sync.Mutex
	missing map[string]bool
	all     chan struct{} // closed when none is missing
}

func (r *routesSeen) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for pair := range strings.FieldsSeq(string(line)) {
		route, ok := strings.CutPrefix(pair, "route=")
		if !ok || !r.missing[route] {
			continue
		}
		delete(r.missing, route)
		if len(r.missing) == 0 {
			close(r.all)
		}
	}
	return len(line), nil
}

func TestDemo(t *testing.T) {
	seen := &routesSeen{
		missing: map[string]bool{"user": true, "search": true, "order": true, "create": true},
		all:     make(chan struct{}),
	}
	s := start(t, options{demo: true}, gateway.Config{AccessLog: seen})
	select {
	case <-seen.all:
		s.stop(t)
	case err := <-s.done:
		t.Errorf("serve ended by itself: %v", err)
	}
}

// TestDemoFails has a load whose requests are turned away: that must not go
// unnoticed.
func TestDemoFails(t *testing.T) {
	s := start(t, options{demo: true}, gateway.Config{RatePerSecond: 0.001, Burst: 1})
	if err := <-s.done; err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("serve with a load that is turned away = %v, want a 429", err)
	}
	s.cancel()
}

func TestRunUsage(t *testing.T) {
	var stderr strings.Builder
	if got := run(t.Context(), []string{"-nonsense"}, io.Discard, &stderr); got != 2 || !strings.Contains(stderr.String(), "nonsense") {
		t.Errorf("run(-nonsense) = %d %q, want 2 and the flag's name", got, stderr.String())
	}
	if got := run(t.Context(), []string{"-addr", "127.0.0.1:99999"}, io.Discard, &stderr); got != 1 {
		t.Errorf("run(-addr 127.0.0.1:99999) = %d, want 1", got)
	}
}
