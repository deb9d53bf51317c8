package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	netpprof "net/http/pprof"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/ingest/above"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// pprofMux serves net/http/pprof; overrides replaces some of its handlers.
func pprofMux(overrides map[string]http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	handlers := map[string]http.HandlerFunc{
		"/debug/pprof/": netpprof.Index, "/debug/pprof/cmdline": netpprof.Cmdline,
		"/debug/pprof/profile": netpprof.Profile, "/debug/pprof/symbol": netpprof.Symbol,
		"/debug/pprof/trace": netpprof.Trace,
	}
	for path, h := range overrides {
		handlers["/debug/pprof/"+path] = h
	}
	for path, h := range handlers {
		mux.HandleFunc(path, h)
	}
	return mux
}

// noCPU is a CPU profile handler that is blocked by another profiler. Tests that do
// not need CPU samples use it, because a process has only one profiler.
func noCPU(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
}

// recordLive records from a server and opens the bundle.
func recordLive(t *testing.T, ctx context.Context, o Options) (*bundle.Bundle, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	w, err := bundle.Create(dir, evidence.Manifest{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	liveErr := Record(ctx, o, w)
	if err := w.Close(liveErr == nil); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	left, err := filepath.Glob(filepath.Join(dir, "*", "*.partial"))
	if len(left) > 0 || err != nil {
		t.Errorf("the recording left %v, %v", left, err)
	}
	return b, liveErr
}

// partNames lists the parts of the only run in order.
func partNames(t *testing.T, b *bundle.Bundle) []string {
	t.Helper()
	if len(b.Manifest.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(b.Manifest.Runs))
	}
	var names []string
	for _, p := range b.Manifest.Runs[0].Parts {
		names = append(names, strings.TrimPrefix(p.Path, "service/"))
	}
	return names
}

func TestLive(t *testing.T) {
	server := httptest.NewServer(pprofMux(nil))
	defer server.Close()
	stop := make(chan struct{})
	done := make(chan int)
	go func() { done <- allocate(stop) }()
	defer func() { close(stop); <-done }()
	var progress atomic.Int64
	want := []string{"memstats-first.txt", "memstats-start.txt", "allocs-start.pprof", "heap-1.pprof", "heap-2.pprof", "cpu.pprof",
		"allocs-end.pprof", "memstats-end.txt", "above.txt", "goroutines.jsonl"}
	var b *bundle.Bundle
	w := liveWindow{asked: time.Second}
	// A busy machine may skip heap profiles.
	for ; ; w.asked *= 4 {
		begin := time.Now()
		var err error
		b, err = recordLive(t, t.Context(), Options{URL: server.URL, For: w.asked, Snapshots: 2, Timeout: patience,
			Progress: func(string, ...any) { progress.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		w.took = time.Since(begin)
		got := partNames(t, b)
		if slices.Equal(got, want) {
			break
		}
		if w.asked > time.Minute {
			t.Fatalf("parts = %q, want %q", got, want)
		}
	}
	m := b.Manifest
	if len(m.Warnings) != 0 || len(b.Problems()) != 0 || progress.Load() == 0 {
		t.Errorf("warnings %q, problems %q, %d progress lines", m.Warnings, b.Problems(), progress.Load())
	}
	if m.Target.Kind != evidence.TargetLive || !slices.Equal(m.Target.Args, []string{server.URL + "/debug/pprof/"}) ||
		len(m.Target.Command) != len(os.Args) {
		t.Errorf("target = %+v", m.Target)
	}
	for _, p := range m.Runs[0].Parts {
		w.check(t, b, p)
	}
	if functions := aboveMake(t, b); !slices.Contains(functions, "runtime.makeslice") {
		t.Errorf("the slice of allocate is made by %q, want runtime.makeslice among them", functions)
	}
	if runtime.GOOS == "linux" && (m.Environment.GoVersion != runtime.Version() || m.Environment.GOGC == "") {
		t.Errorf("environment = %+v, want this process's", m.Environment)
	}
}

func allocate(stop <-chan struct{}) (n int) {
	for {
		select {
		case <-stop:
			return n
		default:
			n += len(fmt.Sprint(make([]byte, 1<<10)))
		}
	}
}

// aboveMake are the functions of the runtime through which function allocate made its slice.
func aboveMake(t *testing.T, b *bundle.Bundle) (functions []string) {
	t.Helper()
	path := func(name string) string { return b.Path(evidence.Part{Path: "service/" + name}) }
	text, err := os.ReadFile(path("above.txt"))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := above.Read("above.txt", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	prof, err := pprof.Open(path("allocs-end.pprof"))
	if err != nil {
		t.Fatal(err)
	}
	err = calls.Over(prof).Samples.Scan(func(s evidence.Sample) error {
		i := slices.IndexFunc(s.Stack, func(l *evidence.Location) bool { return l.Address != 0 })
		if strings.HasSuffix(s.Stack[i].Frames[0].Function, "live.allocate") {
			for _, l := range s.Stack[:i] {
				functions = append(functions, l.Frames[0].Function)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions
}

// patience is long because the event is certain, but the machine may be busy.
const patience = 10 * time.Minute

// liveWindow is the requested length of a window and the length of the recording.
type liveWindow struct{ asked, took time.Duration }

func (w liveWindow) check(t *testing.T, b *bundle.Bundle, p evidence.Part) {
	t.Helper()
	heapLike := p.Kind == evidence.KindAllocs || p.Kind == evidence.KindHeap
	if heapLike && p.Rate != int64(runtime.MemProfileRate) {
		t.Errorf("%s: rate %d, want %d", p.Path, p.Rate, runtime.MemProfileRate)
	}
	if strings.Contains(p.Path, "-end") && (p.Wall < w.asked*9/10 || p.Wall > w.took) {
		t.Errorf("%s: window of %v, want %v or more, of %v", p.Path, p.Wall, w.asked, w.took)
	}
	if known := p.Profiled > 0; known != (p.Kind == evidence.KindCPU && runtime.GOOS == "linux") || known && p.Profiled > w.took*time.Duration(runtime.NumCPU()) {
		t.Errorf("%s: the process used %v of CPU time in %v", p.Path, p.Profiled, w.took)
	}
	if p.Kind != evidence.KindMemStats {
		return
	}
	text, err := os.ReadFile(b.Path(p))
	if err != nil || !bytes.HasPrefix(text, []byte("# runtime.MemStats\n# Alloc = ")) ||
		!bytes.Contains(text, []byte("# NumForcedGC = ")) {
		t.Errorf("%s = %.60q…, %v", p.Path, text, err)
	}
}

func TestLiveForcesGCOnlyIfAsked(t *testing.T) {
	f := func(force bool, want int64) {
		t.Helper()
		var forced atomic.Int64
		count := func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("gc") != "" {
				forced.Add(1)
			}
			netpprof.Handler("heap").ServeHTTP(w, r)
		}
		server := httptest.NewServer(pprofMux(map[string]http.HandlerFunc{"heap": count, "profile": noCPU}))
		defer server.Close()
		if _, err := recordLive(t, t.Context(),
			Options{URL: server.URL, For: time.Second, ForceGC: force}); err != nil {
			t.Error(err)
		}
		if forced.Load() != want {
			t.Errorf("ForceGC %v: %d collections forced, want %d", force, forced.Load(), want)
		}
	}
	f(false, 0)
	f(true, 2)
}

func TestLivePartialSuccess(t *testing.T) {
	whole := recordtest.ProfileBytes(t)
	f := func(name, path string, h http.HandlerFunc, want ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overrides := map[string]http.HandlerFunc{"profile": noCPU, path: h}
			server := httptest.NewServer(pprofMux(overrides))
			defer server.Close()
			timeout := patience
			if strings.HasPrefix(name, "hang") {
				timeout = 4 * time.Second
			}
			b, err := recordLive(t, t.Context(),
				Options{URL: server.URL, For: time.Second, Snapshots: 1, Timeout: timeout, MaxBytes: unit.MiB})
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(b.Manifest.Warnings, "\n")
			for _, text := range want {
				if !strings.Contains(all, text) {
					t.Errorf("warnings %q, want %q", all, text)
				}
			}
		})
	}
	f("busy", "profile", noCPU, "no CPU profile: ", "another CPU profile of this process is being taken",
		"/debug/pprof/profile?seconds=1")
	f("gone", "profile", http.NotFound, "no CPU profile: ", "net/http/pprof is not served there")
	f("write timeout", "profile", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "profile duration exceeds server's WriteTimeout", http.StatusBadRequest)
	}, "shorter time")
	f("login", "allocs", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"no allocation profile at the start", "wants a login")
	f("html", "allocs", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>hi") },
		"not a pprof profile", "HTML")
	f("truncated gzip", "allocs", func(w http.ResponseWriter, _ *http.Request) { w.Write(whole[:len(whole)/2]) },
		"did not answer with a whole profile")
	f("empty", "allocs", func(http.ResponseWriter, *http.Request) {}, "did not answer with a whole profile")
	f("other profile", "allocs", func(w http.ResponseWriter,
		r *http.Request) {
		netpprof.Handler("goroutine").ServeHTTP(w, r)
	}, "no column alloc_space")
	f("cut connection", "allocs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)))
		w.Write(whole[:len(whole)/2])
	}, "connection ended in the middle")
	f("hang", "allocs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"no full answer within 4s")
	f("hang in the body", "allocs", func(w http.ResponseWriter, r *http.Request) {
		w.Write(whole[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}, "no full answer within 4s")
	f("endless", "allocs", endless, "larger than the limit of 1 MiB")
	f("no symbols", "symbol", http.NotFound, "/debug/pprof/symbol is not served; the kinds of allocation come from the source")
	f("other symbols", "symbol", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") }, "does not answer with symbols")
	f("endless symbols", "symbol", endless, "the answer is larger than")
	f("endless text", "heap", endless, "larger than the limit of 1 MiB")
	f("no tail", "heap", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "heap profile: 0: 0\n") },
		"no line # runtime.MemStats")
	f("half a tail", "heap", func(w http.ResponseWriter,
		_ *http.Request) {
		io.WriteString(w, "# runtime.MemStats\n# Alloc = 5\n")
	}, "cut off")
	f("odd text", "heap", func(w http.ResponseWriter,
		_ *http.Request) {
		http.Error(w, "tea\x07pot\nmore", http.StatusTeapot)
	}, "418 I'm a teapot", ": teapot")
}

func endless(w http.ResponseWriter, r *http.Request) {
	block := bytes.Repeat([]byte("x"), 64<<10)
	for r.Context().Err() == nil {
		if _, err := w.Write(block); err != nil {
			return
		}
	}
}

// TestStalled: after a request without an answer in time the next ones get little, until there is
// an answer again.
func TestStalled(t *testing.T) {
	var stopped atomic.Bool // a request whose time is over may never arrive
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if stopped.Load() {
			<-r.Context().Done()
		}
	}))
	defer server.Close()
	s, err := newPprofServer(Options{URL: server.URL, MaxBytes: unit.MiB})
	if err != nil {
		t.Fatal(err)
	}
	s.timeout = time.Millisecond
	stopped.Store(true)
	if err := s.get(t.Context(), query{}, io.Discard); err == nil || !strings.Contains(err.Error(), "may be stopped or overloaded") {
		t.Errorf("a service that does not answer: %v", err)
	}
	s.timeout = time.Hour
	if got, want := s.limit(query{takes: time.Second}), time.Second+stalledTimeout; got != want {
		t.Errorf("after a request without an answer, %v for the next, want %v", got, want)
	}
	s.stalled.Store(false) // two seconds may be too little on a busy machine
	stopped.Store(false)
	if err := s.get(t.Context(), query{}, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got, want := s.limit(query{takes: time.Second}), time.Second+time.Hour; got != want {
		t.Errorf("after an answer, %v for the next request, want %v", got, want)
	}
}

func TestLiveFails(t *testing.T) {
	f := func(url string, want ...string) {
		t.Helper()
		_, err := recordLive(t, t.Context(), Options{URL: url, For: 20 * time.Second, Timeout: time.Minute})
		if err == nil {
			t.Errorf("Live(%s): no error", url)
			return
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("Live(%s): error %q, want %q", url, err, text)
			}
		}
		if strings.Contains(err.Error(), "sesame") {
			t.Errorf("Live(%s): error %q contains the secret", url, err)
		}
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	f(closed.URL, "nothing listens at "+strings.TrimPrefix(closed.URL, "http://"))
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	f(plain.URL, "net/http/pprof is not served there")
	f(strings.Replace(plain.URL, "http://", "https://me:sesame@", 1)+"?token=sesame", "https")
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request) {
		io.WriteString(w, "<html>welcome")
	}))
	defer page.Close()
	f(strings.Replace(page.URL, "http://", "http://me:sesame@", 1)+"?token=sesame",
		"http://me:xxxxx@", "token=xxxxx", "answers with something else than profiles", "net/http/pprof is not served there")
	f("ftp://host", "only http and https")
	f("http://", "names no host")
	f("http://me:sesame@ho st", "not the address of a service")
	f("http://no-such-host.invalid", "no-such-host.invalid")
}

func TestLiveInterrupted(t *testing.T) {
	server := httptest.NewServer(pprofMux(nil))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b, err := recordLive(t, ctx, Options{URL: server.URL, For: time.Hour, Snapshots: 8,
		Progress: func(format string, _ ...any) {
			if strings.HasPrefix(format, "recording") {
				time.AfterFunc(200*time.Millisecond, cancel)
			}
		}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
	want := []string{"memstats-first.txt", "memstats-start.txt", "allocs-start.pprof", "allocs-end.pprof", "memstats-end.txt",
		"above.txt", "goroutines.jsonl"}
	if got := partNames(t, b); !slices.Equal(got, want) {
		t.Errorf("parts = %q, want %q", got, want)
	}
	if len(b.Manifest.Warnings) != 0 || b.Manifest.Complete {
		t.Errorf("manifest = %+v", b.Manifest)
	}
	cancel()
	if _, err := recordLive(t, ctx, Options{URL: server.URL}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the start: %v", err)
	}
}

func TestPprofBase(t *testing.T) {
	f := func(given, want string) {
		t.Helper()
		s, err := newPprofServer(Options{URL: given})
		if err != nil || s.base.String() != want {
			t.Errorf("newPprofServer(%q) = %v, %v, want %s", given, s, err, want)
		}
	}
	f("http://host:6060", "http://host:6060/debug/pprof/")
	f("http://host:6060/", "http://host:6060/debug/pprof/")
	f("https://host/debug/pprof", "https://host/debug/pprof/")
	f("http://host:6060/debug/pprof/", "http://host:6060/debug/pprof/")
	f("http://host:6060/debug/pprof/heap?debug=1", "http://host:6060/debug/pprof/")
	f("http://host/app/one", "http://host/app/one/debug/pprof/")
	f("http://host/app/debug/pprof/?token=t", "http://host/app/debug/pprof/?token=t")
	f("http://host/debug/pprofile", "http://host/debug/pprofile/debug/pprof/")
	f("localhost:6060", "http://localhost:6060/debug/pprof/")
	f(":6060", "http://localhost:6060/debug/pprof/")
	f("[::1]:6060", "http://[::1]:6060/debug/pprof/")
}

// TestLiveStaysWithItsHost checks that a redirect to another host is not followed and
// that host gets nothing of the query.
func TestLiveStaysWithItsHost(t *testing.T) {
	var seen []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.String()+" "+r.Referer())
		http.NotFound(w, r)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.String(), http.StatusFound)
	}))
	defer server.Close()
	_, err := recordLive(t, t.Context(), Options{URL: server.URL + "?token=sesame", For: time.Second, Snapshots: -1})
	if !errors.Is(err, errElsewhere) || !strings.Contains(err.Error(), other.URL) ||
		strings.Contains(err.Error(), "sesame") {
		t.Errorf("error = %v, want one that names %s and no token", err, other.URL)
	}
	if len(seen) > 0 {
		t.Errorf("the other host saw %q", seen)
	}
	mux := pprofMux(map[string]http.HandlerFunc{"profile": noCPU})
	moved := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, "/old"); ok {
			http.Redirect(w, r, rest+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	defer moved.Close()
	if _, err := recordLive(t, t.Context(),
		Options{URL: moved.URL + "/old/debug/pprof/", For: time.Second, Snapshots: -1}); err != nil {
		t.Errorf("a redirect on the same host: %v", err)
	}
}

// TestLiveEndsEarly: a service that answers for MemStats once, and for nothing else, is not recorded; the error says why.
func TestLiveEndsEarly(t *testing.T) {
	var answers atomic.Int64
	once := func(w http.ResponseWriter, r *http.Request) {
		if answers.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		netpprof.Handler("heap").ServeHTTP(w, r)
	}
	gone := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(pprofMux(map[string]http.HandlerFunc{"heap": once, "profile": gone, "allocs": gone}))
	defer server.Close()
	_, err := recordLive(t, t.Context(), Options{URL: server.URL, For: time.Second, Snapshots: 1, Timeout: patience})
	if err == nil || !strings.Contains(err.Error(), "no profile could be recorded") {
		t.Errorf("error %v, want that no profile could be recorded", err)
	}
}
