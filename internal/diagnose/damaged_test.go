package diagnose

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestDamagedProfiles: what cannot be read is warned of once, and the stacks and
// the derived profile are still made of what can.
func TestDamagedProfiles(t *testing.T) {
	const a = "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	allocs := profile("alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes", 1,
		[]sample{{a, []int64{40, 4000, 5, 500}}})
	cpu := profile("samples/count cpu/nanoseconds", 1e7,
		[]sample{{a, []int64{0, 20e7}}, {"example.com/m.Work main.main", []int64{0, 80e7}}})
	garbage := func(w io.Writer) error {
		_, err := io.WriteString(w, "\x1f\x8b no profile")
		return err
	}
	for _, c := range []struct {
		name         string
		cpu, heap    func(io.Writer) error
		warning      string
		ofCPU, ofMem bool
	}{
		{"whole", cpu, allocs, "", true, true},
		{"CPU profile is garbage", garbage, allocs, "cpu.pprof", false, true},
		{"heap profile is garbage", cpu, garbage, "heap.pprof", true, false},
		{"heap profile as CPU profile", allocs, allocs, "a CPU profile without a cpu column", false, true},
		{"CPU profile as heap profile", cpu, cpu, "a heap profile without alloc_space", true, false},
	} {
		r := newRecording(t)
		r.add(evidence.Part{Path: "cpu.pprof", Kind: evidence.KindCPU}, c.cpu)
		r.add(evidence.Part{Path: "heap.pprof", Kind: evidence.KindAllocs, Delta: true, Rate: 1}, c.heap)
		r.cycles(20, 10)
		d := r.diagnose()
		if got := strings.Join(d.Diagnosis().Warnings, "\n"); (got == "") != (c.warning == "") ||
			!strings.Contains(got, c.warning) || len(d.Diagnosis().Warnings) > 1 {
			t.Errorf("%s: warnings %q, want one with %q", c.name, d.Diagnosis().Warnings, c.warning)
		}
		ofCPU, ofMem := false, false
		err := d.WalkStacks(func(s WeightedStack) error {
			ofCPU, ofMem = ofCPU || !s.Heap, ofMem || s.Heap
			return nil
		})
		if err != nil || ofCPU != c.ofCPU || ofMem != c.ofMem {
			t.Errorf("%s: stacks of CPU %v, of the heap %v, error %v; want %v, %v and none", c.name, ofCPU, ofMem, err,
				c.ofCPU, c.ofMem)
		}
		samples := 0
		scanDerived(t, d, func(evidence.Sample) { samples++ })
		if samples == 0 {
			t.Errorf("%s: the derived profile is empty", c.name)
		}
	}
}

// TestLogWithoutCycles: a benchmark's log in which no collection can be read is
// no proof that none ran; that of a program may well be.
func TestLogWithoutCycles(t *testing.T) {
	const damaged = "gc 1 @NaNs 3%: 0.1+5.0+0.1 ms clock\n"
	for _, c := range []struct {
		bench  bool
		text   string
		logged bool
	}{
		{true, damaged, false},
		{false, "listening on :8080\n", true},
		{false, "gc 1 @1.0s 3%: -0.1+5.0+0.1 ms clock\n", false},
	} {
		r := newRecording(t)
		if c.bench {
			r.w.Update(func(m *evidence.Manifest) { m.Target.Kind = evidence.TargetPackages })
		}
		r.cpu([]sample{{"example.com/m.Work main.main", []int64{0, 80e7}}})
		r.add(evidence.Part{Path: "gctrace.txt", Kind: evidence.KindGCTrace, Wall: time.Second},
			func(w io.Writer) error {
				_, err := io.WriteString(w, c.text)
				return err
			})
		d := r.diagnose()
		if got := d.runs[0].Collector.Logged; got != c.logged {
			t.Errorf("benchmark %v, log %q: taken for a log is %v, want %v", c.bench, c.text, got, c.logged)
		}
		if warned := strings.Contains(fmt.Sprint(d.Diagnosis().Warnings),
			"no collection can be read"); warned == c.logged {
			t.Errorf("benchmark %v, log %q: warnings %q", c.bench, c.text, d.Diagnosis().Warnings)
		}
	}
}

// TestHugeWork: more operations than a window has nanoseconds are no negative
// time.
func TestHugeWork(t *testing.T) {
	const a = "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	r := newRecording(t)
	r.w.Update(func(m *evidence.Manifest) { m.Target.Kind = evidence.TargetPackages })
	r.add(evidence.Part{Path: "gc.txt", Kind: evidence.KindBench}, func(w io.Writer) error {
		_, err := io.WriteString(w, "BenchmarkA-2 \t 39278\t 6730 ns/op\n")
		return err
	})
	r.cpu([]sample{{a, []int64{0, 20e7}},
		{"runtime.scanobject runtime.gcDrainMarkWorkerDedicated runtime.gcBgMarkWorker", []int64{0, 30e7}}})
	r.snapshot([]sample{{a, []int64{10, 1000, 5, 500}}})
	r.add(evidence.Part{Path: "gctrace.txt", Kind: evidence.KindGCTrace, Wall: 10 * time.Second, Ops: 1 << 62},
		func(w io.Writer) error {
			for i := 1; i <= 20; i++ {
				fmt.Fprintf(w, "gc %d @%d.5s 3%%: 0.1+5.0+0.1 ms clock, 0.2+1.0/5.0/0+0.2 ms cpu, 7->8->4 MB, 8 MB "+
					"goal, 0 MB stacks, 0 MB globals, 2 P\n", i, i/2)
			}
			return nil
		})
	d := r.diagnose()
	if w := d.runs[0].Collector.Window; w != 10*time.Second {
		t.Errorf("window %v, want that of the log", w)
	}
	for _, s := range d.runs[0].sites {
		if s.lifetime.Mean < 0 {
			t.Errorf("%v lives for %v", s.site.Key, s.lifetime.Mean)
		}
	}
}
