package live

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

func TestLiveTrace(t *testing.T) {
	server := httptest.NewServer(pprofMux(map[string]http.HandlerFunc{"profile": noCPU}))
	defer server.Close()
	b, err := recordLive(t, t.Context(), Options{URL: server.URL, For: time.Second, Snapshots: -1,
		Trace: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got, part := recordtest.ReadTrace(t, b); got.Events == 0 || part.Wall != 300*time.Millisecond {
		t.Errorf("%d events in %+v", got.Events, part)
	}
}

// TestLiveTraceSamples takes a CPU profile while tracing.
func TestLiveTraceSamples(t *testing.T) {
	server := httptest.NewServer(pprofMux(nil))
	defer server.Close()
	stop := make(chan struct{})
	done := make(chan int)
	go func() { done <- allocate(stop) }()
	defer func() { close(stop); <-done }()
	var b *bundle.Bundle
	// A sample comes every 10 ms of CPU; a busy machine needs longer.
	for length := 700 * time.Millisecond; ; length *= 4 {
		var err error
		if b, err = recordLive(t, t.Context(),
			Options{URL: server.URL, For: time.Second, Snapshots: -1, Trace: length}); err != nil {
			t.Fatal(err)
		}
		got, _ := recordtest.ReadTrace(t, b)
		if got.Samples > 0 {
			break
		}
		if length > time.Minute {
			t.Fatalf("no CPU samples among %d events in %v", got.Events, length)
		}
	}
	if parts := recordtest.PartsOf(b, evidence.PassTrace, evidence.KindCPU); len(parts) > 0 {
		t.Errorf("the CPU profile was kept: %+v", parts)
	}
}

func TestLiveTraceFails(t *testing.T) {
	f := func(name string, h http.HandlerFunc, want ...string) {
		t.Helper()
		server := httptest.NewServer(pprofMux(map[string]http.HandlerFunc{"profile": noCPU, "trace": h}))
		defer server.Close()
		b, err := recordLive(t, t.Context(),
			Options{URL: server.URL, For: time.Second, Snapshots: -1, Trace: 10 * time.Millisecond, Timeout: patience})
		if err != nil || len(recordtest.PartsOf(b, evidence.PassTrace, evidence.KindTrace)) > 0 {
			t.Errorf("%s: error %v, runs %+v", name, err, b.Manifest.Runs)
		}
		all := strings.Join(b.Manifest.Warnings, "\n")
		for _, text := range append(want, "no execution trace: ") {
			if !strings.Contains(all, text) {
				t.Errorf("%s: warnings %q, want %q", name, all, text)
			}
		}
	}
	profile := recordtest.ProfileBytes(t)
	f("none", http.NotFound, "net/http/pprof is not served there")
	f("taken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Could not enable tracing: tracing is already enabled", http.StatusInternalServerError)
	}, "another execution trace")
	f("text", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "all is well here, thank you") },
		"did not answer with an execution trace", "all is well")
	f("empty", func(http.ResponseWriter, *http.Request) {}, "did not answer with an execution trace")
	f("profile", func(w http.ResponseWriter, _ *http.Request) { w.Write(profile) },
		"did not answer with an execution trace")
}
