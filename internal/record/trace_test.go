package record

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// traced is what a trace is about.
type traced struct {
	events  int
	samples int            // of the CPU
	tasks   map[string]int // ended, by type
}

// readTrace reads the only trace of a bundle to its end.
func readTrace(t *testing.T, b *bundle.Bundle) (traced, evidence.Part) {
	t.Helper()
	parts := partsOf(b, evidence.PassTrace, evidence.KindTrace)
	if len(parts) != 1 {
		t.Fatalf("trace parts %+v, want one; lacks %q", parts, b.Manifest.Lacks)
	}
	f, err := os.Open(b.Path(parts[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	got := traced{tasks: map[string]int{}}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return got, parts[0]
		}
		if err != nil {
			t.Fatal(err)
		}
		got.events++
		if ev.Kind() == trace.EventStackSample {
			got.samples++
		}
		if ev.Kind() == trace.EventTaskEnd {
			got.tasks[ev.Task().Type]++
		}
	}
}

// loadedServer writes the test's server and builds its load, with its length and
// least number of requests.
func loadedServer(t *testing.T, load string) ExecOptions {
	t.Helper()
	dir := writeTree(t, "go.mod", "module example.com/server\n\ngo 1.21\n", "main.go", serverSource)
	bin := filepath.Join(t.TempDir(), "load.exe")
	if _, err := (goTool{dir: dir}).output(context.Background(), "build", "-o", bin, "."); err != nil {
		t.Fatal(err)
	}
	addr := freeAddress(t)
	return ExecOptions{
		Dir: dir, Package: ".", Args: []string{addr}, Ready: "http://" + addr + "/x",
		Load: fmt.Sprintf("%s -load http://%s/orders/o-17 %s", bin, addr, load),
	}
}

func TestExecTrace(t *testing.T) {
	o := loadedServer(t, "1h 1") // and is interrupted
	o.For, o.Trace, o.Requests = 1500*time.Millisecond, time.Second, true
	begin := time.Now()
	b, err := execute(context.Background(), t, o)
	for ; err == nil && o.Trace < time.Minute; b, err = execute(context.Background(), t, o) {
		// A sample comes every 10 ms of CPU; a busy machine needs longer.
		if got, _ := readTrace(t, b); got.samples > 0 && len(got.tasks) > 0 {
			break
		}
		o.Trace *= 4
		begin = time.Now()
	}
	took := time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; len(m.Warnings)+len(m.LeftOut)+len(m.Lacks) > 0 {
		t.Errorf("warnings %q, left out %q, lacks %q", m.Warnings, m.LeftOut, m.Lacks)
	}
	got, part := readTrace(t, b)
	if n := got.tasks["GET /orders/{}"]; n == 0 || len(got.tasks) != 1 {
		t.Errorf("tasks %v, want one kind, of requests", got.tasks)
	}
	if got.samples == 0 {
		t.Error("no CPU samples in the trace")
	}
	if part.Wall < o.Trace*9/10 || part.Wall > took {
		t.Errorf("the window was %v long, want about %v", part.Wall, o.Trace)
	}
	// The trace's window is none of the others.
	for _, p := range partsOf(b, evidence.PassTiming, evidence.KindHeap) {
		if p.Wall > took-part.Wall {
			t.Errorf("%+v, beside a trace of %v, in %v", p, part.Wall, took)
		}
	}
	if parts := partsOf(b, evidence.PassTrace, evidence.KindHeap); len(parts) > 0 {
		t.Errorf("heap profiles in the trace window: %+v", parts)
	}
	if parts := partsOf(b, evidence.PassTrace, evidence.KindCPU); len(parts) > 0 {
		t.Errorf("the trace window's CPU profile was kept: %+v", parts)
	}
}

func TestExecTraceWithoutRequests(t *testing.T) {
	dir := writeTree(t, "go.mod", "module example.com/batch\n\ngo 1.21\n", "main.go", batchSource)
	b, err := execute(context.Background(), t, ExecOptions{Dir: dir, Package: ".", Args: []string{"1h"}, For: 2 * time.Second, Trace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := readTrace(t, b); got.events == 0 || len(got.tasks) != 0 {
		t.Errorf("%d events, tasks %v", got.events, got.tasks)
	}
	// A program that is recorded to its end has no window behind it.
	b, err = execute(context.Background(), t, ExecOptions{Dir: dir, Package: ".", Args: []string{"300ms"}, Trace: time.Second})
	if err != nil || len(partsOf(b, evidence.PassTrace, evidence.KindTrace)) > 0 || len(b.Manifest.LeftOut)+len(b.Manifest.Lacks) > 0 {
		t.Errorf("error %v, manifest %+v", err, b.Manifest)
	}
}

func TestExecTraceOfShortLoad(t *testing.T) {
	o := loadedServer(t, "0s 1")
	o.Trace = time.Second
	b, err := execute(context.Background(), t, o)
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; len(m.Lacks) != 1 || !strings.Contains(m.Lacks[0].What, "the execution trace: the second call of the load") || m.Lacks[0].Adds == "" {
		t.Errorf("lacks %q, want the trace", m.Lacks)
	}
}

func TestHookServer(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := hookServer("server.go", []byte("package http\n"+in))
		if err != nil || strings.TrimPrefix(string(got), "package http\n") != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	const head, hook = "func (sh serverHandler) ServeHTTP(rw ResponseWriter, req *Request) {", " defer htrim7qTask(sh.srv, &req)();"
	f(head+"\n\twork()\n}\n", head+hook+"\n\twork()\n}\n")
	f("func (sh *other) ServeHTTP(rw ResponseWriter, req *Request) {}\n"+head+"}\n",
		"func (sh *other) ServeHTTP(rw ResponseWriter, req *Request) {}\n"+head+hook+"}\n")
	for _, in := range []string{
		"", "func {", "func ServeHTTP(rw ResponseWriter, req *Request) {}",
		"func (h serverHandler) ServeHTTP(rw ResponseWriter, req *Request) {}",
		"func (sh serverHandler) ServeHTTP(w ResponseWriter, r *Request) {}",
		"func (sh serverHandler) ServeHTTP(rw ResponseWriter) {}",
	} {
		if got, err := hookServer("server.go", []byte("package http\n"+in)); err == nil || !strings.Contains(err.Error(), "server.go") {
			t.Errorf("%q: got %q, %v, want an error", in, got, err)
		}
	}
}

func TestLiveTrace(t *testing.T) {
	server := httptest.NewServer(pprofMux(map[string]http.HandlerFunc{"profile": noCPU}))
	defer server.Close()
	b, err := recordLive(t, t.Context(), LiveOptions{URL: server.URL, For: time.Second, Snapshots: -1, Trace: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got, part := readTrace(t, b); got.events == 0 || part.Wall != 300*time.Millisecond {
		t.Errorf("%d events in %+v", got.events, part)
	}
}

// TestLiveTraceSamples has a CPU profile taken while tracing.
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
		if b, err = recordLive(t, t.Context(), LiveOptions{URL: server.URL, For: time.Second, Snapshots: -1, Trace: length}); err != nil {
			t.Fatal(err)
		}
		got, _ := readTrace(t, b)
		if got.samples > 0 {
			break
		}
		if length > time.Minute {
			t.Fatalf("no CPU samples among %d events in %v", got.events, length)
		}
	}
	if parts := partsOf(b, evidence.PassTrace, evidence.KindCPU); len(parts) > 0 {
		t.Errorf("the CPU profile was kept: %+v", parts)
	}
}

func TestLiveTraceFails(t *testing.T) {
	f := func(name string, h http.HandlerFunc, want ...string) {
		t.Helper()
		server := httptest.NewServer(pprofMux(map[string]http.HandlerFunc{"profile": noCPU, "trace": h}))
		defer server.Close()
		b, err := recordLive(t, t.Context(), LiveOptions{URL: server.URL, For: time.Second, Snapshots: -1, Trace: 10 * time.Millisecond, Timeout: patience})
		if err != nil || len(partsOf(b, evidence.PassTrace, evidence.KindTrace)) > 0 {
			t.Errorf("%s: error %v, runs %+v", name, err, b.Manifest.Runs)
		}
		all := strings.Join(b.Manifest.Warnings, "\n")
		for _, text := range append(want, "no execution trace: ") {
			if !strings.Contains(all, text) {
				t.Errorf("%s: warnings %q, want %q", name, all, text)
			}
		}
	}
	profile := profileBytes(t)
	f("none", http.NotFound, "net/http/pprof is not served there")
	f("taken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Could not enable tracing: tracing is already enabled", http.StatusInternalServerError)
	}, "another execution trace")
	f("text", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "all is well here, thank you") }, "did not answer with an execution trace", "all is well")
	f("empty", func(http.ResponseWriter, *http.Request) {}, "did not answer with an execution trace")
	f("profile", func(w http.ResponseWriter, _ *http.Request) { w.Write(profile) }, "did not answer with an execution trace")
}
