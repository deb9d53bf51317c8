package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/examples/gateway"
)

// start serves on a free port and returns the URL, the Authorization header
// and a function that ends it.
func start(t *testing.T, o options, config gateway.Config) (base, authorization string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	o.addr = "127.0.0.1:0"
	config.Services = gateway.FakeServices()
	go func() { done <- serve(ctx, o, config, in) }()
	lines := bufio.NewScanner(out)
	lines.Scan()
	base = strings.TrimPrefix(lines.Text(), "listening on ")
	lines.Scan()
	_, authorization, _ = strings.Cut(lines.Text(), ": ")
	return base, authorization, func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serve = %v after cancel, want nil", err)
		}
	}
}

func TestServe(t *testing.T) {
	base, authorization, stop := start(t, options{}, gateway.Config{})
	defer stop()
	req, err := http.NewRequest("GET", base+"/v1/users/u-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", authorization)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("GET /v1/users/u-1 = %s, want 200", resp.Status)
	}
}

// TestDemo waits until the load has sent some of every kind of request.
func TestDemo(t *testing.T) {
	log, in := io.Pipe()
	_, _, stop := start(t, options{demo: true}, gateway.Config{AccessLog: in})
	missing := map[string]bool{"user": true, "search": true, "order": true, "create": true}
	lines := bufio.NewScanner(log)
	for len(missing) > 0 && lines.Scan() {
		for _, pair := range strings.Fields(lines.Text()) {
			if route, ok := strings.CutPrefix(pair, "route="); ok {
				delete(missing, route)
			}
			if status, ok := strings.CutPrefix(pair, "status="); ok && status[0] != '2' {
				t.Errorf("the load was answered with %s: %s", status, lines.Text())
			}
		}
	}
	log.Close() // later lines go nowhere
	stop()
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
