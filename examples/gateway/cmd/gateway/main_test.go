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

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- serve(ctx, "127.0.0.1:0", gateway.Config{Services: gateway.FakeServices(), Secret: []byte("s")}, in)
	}()
	lines := bufio.NewScanner(out)
	lines.Scan()
	base := strings.TrimPrefix(lines.Text(), "listening on ")
	lines.Scan()
	name, token, _ := strings.Cut(lines.Text(), ": ")

	req, err := http.NewRequest("GET", base+"/v1/users/u-1", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(name, token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("GET /v1/users/u-1 = %s, want 200", resp.Status)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("serve = %v after cancel, want nil", err)
	}
}

func TestRunUsage(t *testing.T) {
	var stderr strings.Builder
	if got := run([]string{"-nonsense"}, io.Discard, &stderr); got != 2 || !strings.Contains(stderr.String(), "nonsense") {
		t.Errorf("run(-nonsense) = %d %q, want 2 and the flag's name", got, stderr.String())
	}
	if got := run([]string{"-addr", "127.0.0.1:99999"}, io.Discard, &stderr); got != 1 {
		t.Errorf("run(-addr 127.0.0.1:99999) = %d, want 1", got)
	}
}
