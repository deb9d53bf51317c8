package latency_test

import (
	"bytes"
	"io"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/latency"
)

//go:noinline
func allocateHard(n int) (last *[256]*int) {
	for range n {
		last = new([256]*int)
		kept.Store(last)
	}
	return last
}

//go:noinline
func allocateSome() { keptToo.Store(new([16]*int)) }

var (
	kept    atomic.Pointer[[256]*int]
	keptToo atomic.Pointer[[16]*int]
)

// recordCauses traces one goroutine that allocates hard, and others that allocate now
// and then and assist. With profile it takes a CPU profile as well.
func recordCauses(t *testing.T, length time.Duration, profile bool) []byte {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	live := make([]*[64]*int, 40_000)
	for i := range live {
		live[i] = new([64]*int)
		if i > 0 {
			live[i][0] = new(int)
		}
	}
	if profile {
		if err := pprof.StartCPUProfile(io.Discard); err != nil {
			t.Skipf("cannot profile: %v", err)
		}
		defer pprof.StopCPUProfile()
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	defer trace.Stop()
	var stop atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for !stop.Load() {
			allocateHard(100)
		}
	})
	for range 3 {
		all.Go(func() {
			for !stop.Load() {
				for range 20 {
					allocateSome()
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	time.Sleep(length)
	stop.Store(true)
	all.Wait()
	trace.Stop()
	runtime.KeepAlive(live)
	return b.Bytes()
}

func TestLatencyCauses(t *testing.T) {
	var r *latency.Report
	// A sample comes every 10 ms of CPU; a busy machine needs longer.
	for length, turn := time.Second, 1; ; length, turn = min(2*length, 8*time.Second), turn+1 {
		var err error
		if r, err = latency.Analyze(bytes.NewReader(recordCauses(t, length, true)), latency.Options{}); err != nil {
			t.Fatal(err)
		}
		enough := r.Causes.Samples >= 200
		if enough && r.Causes.Allocating.Mark >= 10 || !enough && turn == 4 || turn == 12 {
			break
		}
	}
	c := r.Causes
	if c.Samples < 200 {
		t.Skipf("only %d samples in eight seconds: there is no processor left to test with", c.Samples)
	}
	if c.Allocating.Mark < 10 {
		t.Fatalf("got %+v, want samples in mark phases; there were %v of those", c, r.Mark)
	}
	first := c.Sites[0]
	if !strings.HasSuffix(first.Func, ".allocateHard") || !strings.HasSuffix(first.File, "causes_test.go") || first.Line == 0 {
		t.Errorf("got %+v first, want allocateHard", first)
	}
	if s := first.Share; s.Value < 0.5 || s.Low >= s.Value || s.High < s.Value {
		t.Errorf("got %+v of the samples, want most of them, with an interval", s)
	}
	checkCauses(t, r)
}

// checkCauses checks that the sites add up to the whole, and the phases to the delays
// in them.
func checkCauses(t *testing.T, r *latency.Report) {
	t.Helper()
	c := r.Causes
	var all latency.Tally
	for _, s := range c.Sites {
		all.All += s.Allocating.All
		all.Mark += s.Allocating.Mark
		all.Others += s.Allocating.Others
		if s.Phases > s.Allocating.Mark || s.Phases > len(r.Windows) || (s.Phases > 0) != (s.Allocating.Mark > 0) {
			t.Errorf("%+v: in %d phases of %d", s, s.Phases, len(r.Windows))
		}
		for p, d := range s.Paid {
			if d > c.Paid[p] {
				t.Errorf("%+v: %v paid as %v, of %v in all", s, d, latency.Part(p), c.Paid[p])
			}
		}
	}
	if all != c.Allocating || c.Unlisted != 0 || c.Allocating.All > c.Samples || c.Allocating.Mark > c.Mark {
		t.Errorf("the sites have %+v, all have %+v of %d samples", all, c.Allocating, c.Samples)
	}
	var paid latency.Split
	for _, w := range r.Windows {
		paid.Add(&w.Paid)
	}
	if paid != c.Paid {
		t.Errorf("paid %v, the windows have %v", c.Paid, paid)
	}
}

func TestLatencyCausesWithoutSamples(t *testing.T) {
	var r *latency.Report
	// On a busy machine there may be a mark phase without any waiting goroutine.
	for length, turn := 100*time.Millisecond, 1; ; length, turn = min(2*length, 8*time.Second), turn+1 {
		var err error
		if r, err = latency.Analyze(bytes.NewReader(recordCauses(t, length, false)), latency.Options{}); err != nil {
			t.Fatal(err)
		}
		if r.Causes.Paid.Total() > 0 || turn == 16 {
			break
		}
	}
	if c := r.Causes; c.Samples != 0 || len(c.Sites) != 0 || c.Allocating.All != 0 || c.Paid.Total() == 0 {
		t.Errorf("got %+v, want payments but no samples", c)
	}
	checkCauses(t, r)
}
