package command

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

// loadedServer writes the test's server and builds its load. load is the load's length
// and least number of requests.
func loadedServer(t *testing.T, load string) Options {
	t.Helper()
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/server\n\ngo 1.21\n", "main.go", serverSource)
	bin := filepath.Join(t.TempDir(), "load.exe")
	if _, err := (gocmd.Tool{Dir: dir}).Output(context.Background(), "build", "-o", bin, "."); err != nil {
		t.Fatal(err)
	}
	addr := freeAddress(t)
	return Options{
		Dir: dir, Package: ".", Args: []string{addr}, Ready: "http://" + addr + "/x",
		Load: fmt.Sprintf("%s -load http://%s/orders/o-17 %s", bin, addr, load),
	}
}

func TestExecTrace(t *testing.T) {
	o := loadedServer(t, "1h 1") // until it is interrupted
	o.For, o.Trace, o.Requests = 1500*time.Millisecond, time.Second, true
	begin := time.Now()
	b, err := execute(context.Background(), t, o)
	for ; err == nil && o.Trace < time.Minute; b, err = execute(context.Background(), t, o) {
		// A sample comes every 10 ms of CPU; a busy machine needs longer.
		if got, _ := recordtest.ReadTrace(t, b); got.Samples > 0 && len(got.Tasks) > 0 {
			break
		}
		o.Trace *= 4
		begin = time.Now()
	}
	took := time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; len(m.Warnings)+len(m.LeftOut)+len(m.Gaps) > 0 {
		t.Errorf("warnings %q, left out %q, gaps %q", m.Warnings, m.LeftOut, m.Gaps)
	}
	got, part := recordtest.ReadTrace(t, b)
	if n := got.Tasks["GET /orders/{}"]; n == 0 || len(got.Tasks) != 1 {
		t.Errorf("tasks %v, want one kind, of requests", got.Tasks)
	}
	if got.Samples == 0 {
		t.Error("no CPU samples in the trace")
	}
	if part.Wall < o.Trace*9/10 || part.Wall > took {
		t.Errorf("the window was %v long, want about %v", part.Wall, o.Trace)
	}
	// Nothing else is recorded in the trace's window.
	for _, p := range recordtest.PartsOf(b, evidence.PassTiming, evidence.KindHeap) {
		if p.Wall > took-part.Wall {
			t.Errorf("%+v, beside a trace of %v, in %v", p, part.Wall, took)
		}
	}
	if parts := recordtest.PartsOf(b, evidence.PassTrace, evidence.KindHeap); len(parts) > 0 {
		t.Errorf("heap profiles in the trace window: %+v", parts)
	}
	if parts := recordtest.PartsOf(b, evidence.PassTrace, evidence.KindCPU); len(parts) > 0 {
		t.Errorf("the trace window's CPU profile was kept: %+v", parts)
	}
}

func TestExecTraceWithoutRequests(t *testing.T) {
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/batch\n\ngo 1.21\n", "main.go", batchSource)
	b, err := execute(context.Background(), t,
		Options{Dir: dir, Package: ".", Args: []string{"1h"}, For: 2 * time.Second, Trace: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := recordtest.ReadTrace(t, b); got.Events == 0 || len(got.Tasks) != 0 {
		t.Errorf("%d events, tasks %v", got.Events, got.Tasks)
	}
	// A window without profiles follows the one with them.
	logs := recordtest.PartsOf(b, evidence.PassCollector, evidence.KindGCTrace)
	alone := recordtest.PartsOf(b, evidence.PassCollector, evidence.KindMetrics)
	if len(logs) != 1 || len(alone) != 1 || alone[0].Wall < time.Second || alone[0].OwnLive > 1<<20 ||
		len(recordtest.PartsOf(b, evidence.PassTiming, evidence.KindGCTrace)) != 1 {
		t.Errorf("the unprofiled window: %+v, %+v", logs, alone)
	}
	// A program that is recorded to its end has no trace window.
	b, err = execute(context.Background(), t,
		Options{Dir: dir, Package: ".", Args: []string{"300ms"}, Trace: time.Second})
	if err != nil || len(recordtest.PartsOf(b, evidence.PassTrace, evidence.KindTrace)) > 0 ||
		len(b.Manifest.LeftOut)+len(b.Manifest.Gaps) > 0 {
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
	if m := b.Manifest; len(m.Gaps) != 1 ||
		!strings.Contains(m.Gaps[0].What, "the execution trace: the second call of the load") ||
		m.Gaps[0].Adds == "" {
		t.Errorf("gaps %q, want the trace", m.Gaps)
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
	const head, hook = "func (sh serverHandler) ServeHTTP(rw ResponseWriter, req *Request) {",
		" defer htrim7qTask(sh.srv, &req)();"
	f(head+"\n\twork()\n}\n", head+hook+"\n\twork()\n}\n")
	f("func (sh *other) ServeHTTP(rw ResponseWriter, req *Request) {}\n"+head+"}\n",
		"func (sh *other) ServeHTTP(rw ResponseWriter, req *Request) {}\n"+head+hook+"}\n")
	for _, in := range []string{
		"", "func {", "func ServeHTTP(rw ResponseWriter, req *Request) {}",
		"func (h serverHandler) ServeHTTP(rw ResponseWriter, req *Request) {}",
		"func (sh serverHandler) ServeHTTP(w ResponseWriter, r *Request) {}",
		"func (sh serverHandler) ServeHTTP(rw ResponseWriter) {}",
	} {
		if got, err := hookServer("server.go", []byte("package http\n"+in)); err == nil ||
			!strings.Contains(err.Error(), "server.go") {
			t.Errorf("%q: got %q, %v, want an error", in, got, err)
		}
	}
}
