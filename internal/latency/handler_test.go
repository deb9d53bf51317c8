package latency_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/latency"
)

// slowHandler waits, so that the trace has stacks with it.
type slowHandler struct{}

func (h *slowHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wait := make(chan bool)
	go func() { wait <- true }()
	<-wait
	io.WriteString(w, "slow")
}

func fastHandler(w http.ResponseWriter, r *http.Request) {
	wait := make(chan bool)
	go func() { wait <- true }()
	<-wait
	io.WriteString(w, "fast")
}

// htrim7qTask has a name like the recorder's functions.
func htrim7qTask(w http.ResponseWriter, r *http.Request) {
	wait := make(chan bool)
	go htrim7qLoop(wait)
	<-wait
}

func htrim7qLoop(wait chan bool) { wait <- true }

// TestHandlers distinguishes HTTP handlers behind a mux and middleware. The recorder's
// own functions are neither handlers nor the program's goroutines.
func TestHandlers(t *testing.T) {
	mux := http.NewServeMux()
	mux.Handle("/slow", &slowHandler{})
	mux.HandleFunc("/fast", fastHandler)
	mux.HandleFunc("/task", htrim7qTask)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { mux.ServeHTTP(w, r) }))
	defer server.Close()
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	for range 20 {
		for _, path := range []string{"/slow", "/fast", "/task"} {
			res, err := http.Get(server.URL + path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
		}
	}
	trace.Stop()
	r, err := latency.Analyze(&b, latency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]latency.Split{}
	own := 0
	for _, g := range r.Groups {
		if strings.Contains(g.Handler, "htrim7q") {
			t.Errorf("%s is shown as a handler", g.Handler)
		}
		if strings.Contains(g.Start, "htrim7q") {
			own++
			if !g.System {
				t.Errorf("%s counts as a goroutine of the program", g.Start)
			}
		}
		if g.Start == "net/http.(*conn).serve" {
			seen[g.Handler[strings.LastIndex(g.Handler, "/")+1:]] = g.Split
		}
	}
	if own == 0 {
		t.Error("the goroutines of the recorder's name are not in the trace")
	}
	for _, name := range []string{"latency_test.(*slowHandler).ServeHTTP", "latency_test.fastHandler"} {
		s, ok := seen[name]
		if !ok || s[latency.BlockedChannel] == 0 || s[latency.Running] == 0 {
			t.Errorf("%s: got %v of %v, want running and waiting for a channel", name, s, seen)
		}
	}
}
