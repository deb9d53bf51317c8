package latency_test

import (
	"bytes"
	"context"
	"runtime/debug"
	"runtime/trace"
	"sync"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
	"github.com/heaptrim/heaptrim/internal/latency"
)

// recordTrace traces requests that allocate over a live heap, as tasks that
// are handed from one goroutine to another.
func recordTrace(t testing.TB) []byte {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	live := make([]*[64]*int, 20_000)
	for i := range live {
		live[i] = new([64]*int)
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	type request struct {
		ctx  context.Context
		done chan bool
	}
	requests := make(chan request)
	var clients, servers sync.WaitGroup
	for i := range 4 {
		servers.Go(func() {
			for r := range requests {
				trace.WithRegion(r.ctx, "serve", func() {
					for range 40 {
						live[i] = new([64]*int)
						_ = append([]byte(nil), make([]byte, 4000)...)
					}
				})
				r.done <- true
			}
		})
		clients.Go(func() {
			done := make(chan bool)
			for range 200 {
				ctx, task := trace.NewTask(context.Background(), "request")
				requests <- request{ctx, done}
				<-done
				task.End()
			}
			time.Sleep(time.Millisecond)
		})
	}
	clients.Wait()
	close(requests)
	servers.Wait()
	trace.Stop()
	return b.Bytes()
}

func TestAnalyze(t *testing.T) {
	data := recordTrace(t)
	r, err := latency.Analyze(bytes.NewReader(data), latency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, r)
	counts := map[string]int{}
	for _, q := range r.Requests {
		counts[string(q.Kind)+" "+q.Name] = q.Count
	}
	if counts["task request"] != 800 || counts["region serve"] != 800 {
		t.Errorf("got %v, want 800 tasks and 800 regions", counts)
	}
	s, err := exectrace.Scan(bytes.NewReader(data), exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	// Two readers in two ways. The one in order moves equal timestamps apart by
	// nanoseconds, at most one for each event.
	var all latency.Split
	for _, g := range r.Groups {
		all.Add(&g.Split)
	}
	near := func(part string, got, want time.Duration) {
		t.Helper()
		if d := (got - want).Abs(); d > time.Duration(r.Events) {
			t.Errorf("%s: got %v, the scan has %v", part, got, want)
		}
	}
	// A stop of the world is a separate part here, also that within an assist, which ends the mark phase, or a sweep.
	unlessStopped := func(part string, got, want time.Duration) {
		t.Helper()
		if got > want+time.Duration(r.Events) || got+all[latency.STW] < want-time.Duration(r.Events) {
			t.Errorf("%s: got %v and %v of stops, the scan has %v", part, got, all[latency.STW], want)
		}
	}
	unlessStopped("assist on CPU", all[latency.AssistCPU], s.Assist.OnCPU)
	unlessStopped("sweep", all[latency.Sweep], s.Sweep.Time)
	near("mark", r.Mark, s.Cycles.Mark)
	if s.Assist.Count == 0 || r.Windows == nil || len(r.Windows) != len(s.Cycles.List) {
		t.Errorf("%d assists, %d windows and %d cycles; the program is made to have some", s.Assist.Count, len(r.Windows), len(s.Cycles.List))
	}
}

// TestAnalyzeAllocates checks that neither events nor requests allocate. Only the
// tables of a generation remain, and a row for each goroutine and each length of
// request.
func TestAnalyzeAllocates(t *testing.T) {
	data := recordTrace(t)
	const requests = 1600
	n := testing.AllocsPerRun(1, func() {
		if _, err := latency.Analyze(bytes.NewReader(data), latency.Options{}); err != nil {
			t.Fatal(err)
		}
	})
	if n > 2*requests {
		t.Errorf("%v allocations for %d requests", n, requests)
	}
}

// checkSums checks that the parts add up to the whole.
func checkSums(t *testing.T, r *latency.Report) {
	t.Helper()
	for _, q := range r.Requests {
		if got := q.All.Total(); got != q.Total {
			t.Errorf("%s %s: the parts of all are %v, they took %v", q.Kind, q.Name, got, q.Total)
		}
		for _, list := range [][]latency.Request{q.Slowest, q.MostGC} {
			for _, x := range list {
				if got := x.Split.Total(); got != x.Length {
					t.Errorf("%s %s at %v: the parts are %v, the request took %v: %v", q.Kind, q.Name, x.Start, got, x.Length, x.Split)
				}
			}
		}
		if q.Count > 0 && (q.P50 > q.P90 || q.P90 > q.P99 || q.P99 > q.Max) {
			t.Errorf("%s %s: quantiles %v %v %v %v", q.Kind, q.Name, q.P50, q.P90, q.P99, q.Max)
		}
	}
	for _, w := range r.Windows {
		if w.End < w.Start || w.End > r.Length {
			t.Errorf("window %v to %v of %v", w.Start, w.End, r.Length)
		}
	}
}
