package diagnose

import (
	"fmt"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// A benchmark's passes have operations of their own: collections and rates are for those of the pass that they are of.
func TestPassesOfABenchmark(t *testing.T) {
	d := &run.Data{Bench: true}
	d.CPU.Ops, d.Heap.Ops = 200, 50
	d.Collector.Ops, d.Collector.Window = 100, 2*time.Second
	d.Collector.Cycles = make([]evidence.Cycle, 10)
	r := &runCosts{Data: d, counts: &correct.Result{}}
	if got := r.cyclesOfTiming(); got != 20 {
		t.Errorf("10 collections in 100 operations are %v in 200, want 20", got)
	}
	if got := r.secondsAlone(); got != 1 {
		t.Errorf("100 operations in 2 s are 50 in %v s, want 1", got)
	}
}

// TestInUseIsLive: profiles that show more than the live heap are scaled down to it.
func TestInUseIsLive(t *testing.T) {
	r := newRecording(t)
	r.cpu([]sample{{"runtime.mallocgc example.com/m.f example.com/m.main", []int64{100, 1e9}}})
	for n := range int64(3) {
		r.snapshot([]sample{
			{"example.com/m.f example.com/m.main", []int64{1000 * n, n * 64 << 20, 100, 6 << 20}},
			{"example.com/m.g example.com/m.main", []int64{1000 * n, n * 64 << 20, 100, 6 << 20}},
		})
	}
	r.cycles(40, 8)
	sum := 0.0
	findings := r.diagnose().Diagnosis().Findings
	for _, f := range findings {
		sum += f.Cost.InUse.Value
	}
	if len(findings) < 2 || sum < 7<<20 || sum > 9<<20 {
		t.Errorf("%d findings keep %.1f MiB of some 8 MiB alive", len(findings), sum/(1<<20))
	}
}

// TestInUseWithinLive: no line is said to keep more than the live heap, however few samples it was seen in.
func TestInUseWithinLive(t *testing.T) {
	r := newRecording(t)
	r.cpu([]sample{{"runtime.mallocgc example.com/m.f example.com/m.main", []int64{100, 1e9}}})
	const rate = 512 << 10
	for n := range int64(3) {
		part := evidence.Part{Path: fmt.Sprintf("heap-%02d.pprof", n), Kind: evidence.KindHeap, Rate: rate, Wall: 10 * time.Second}
		r.add(part, profile("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", rate, []sample{
			{"example.com/m.f example.com/m.main", []int64{1000 * n, n * 64 << 20, 100, 7 << 20}}}))
	}
	r.cycles(40, 8)
	d := r.diagnose().Diagnosis()
	if len(d.Findings) == 0 {
		t.Fatal("no findings")
	}
	for _, f := range d.Findings {
		if in := f.Cost.InUse; in.Value < 6<<20 || in.High <= in.Value || in.High > 8.5*(1<<20) {
			t.Errorf("%.1f MiB, at most %.1f, of some 8 MiB alive", in.Value/(1<<20), in.High/(1<<20))
		}
	}
}
