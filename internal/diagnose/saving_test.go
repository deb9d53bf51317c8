package diagnose

import (
	"math"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// A small value is cleared wherever it lives, so a cure that moves it saves no
// clearing; a buffer, a large value and what a library makes do save it.
func TestInitialised(t *testing.T) {
	type part struct {
		kind           finding.Kind
		via            string
		objects, bytes float64
	}
	f := func(name string, want float64, parts ...part) {
		t.Helper()
		s := &run.Site{Mix: map[run.MixKey]*run.MixTally{}}
		for _, p := range parts {
			s.Bytes += p.bytes
			s.Mix[run.MixKey{Kind: p.kind, Via: p.via}] = &run.MixTally{Objects: p.objects, Bytes: p.bytes}
		}
		if got := s.Initialised(run.TinyScale{}); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	f("nothing allocated", 0)
	f("a small value", 1, part{finding.KindNew, "", 10, 800})
	f("a buffer", 0, part{finding.KindMake, "", 10, 800})
	f("a large value", 0, part{finding.KindNew, "", 1, 1 << 20})
	f("inside a library", 0, part{finding.KindNew, "encoding/json.Unmarshal", 10, 800})
	f("half and half", 0.5, part{finding.KindNew, "", 10, 800}, part{finding.KindGrowth, "", 1, 800})
}

// TestCaches: what a site's fresh memory costs the program's other code is its
// lines at the price that was measured, is in the saving and in no column, and
// is never a larger part of the program's own time than the loop lost.
func TestCaches(t *testing.T) {
	site := "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	const lines = 1 << 20
	f := func(cost *evidence.CacheMiss, want stats.Interval) {
		t.Helper()
		r := newRecording(t)
		if err := r.w.Update(func(m *evidence.Manifest) { m.Runs[r.run].CacheMiss = cost }); err != nil {
			t.Fatal(err)
		}
		r.cpuOf(evidence.Part{}, []sample{{"example.com/m.Work main.main", []int64{0, 400e7}},
			{site, []int64{0, 100e7}}})
		r.snapshot([]sample{{site, []int64{0, 0, 0, 0}}})
		r.snapshot([]sample{{site, []int64{lines, 64 * lines, 0, 0}}})
		r.cycles(20, 10)
		d := r.diagnose()
		checkSums(t, d)
		got := d.Diagnosis().Findings[0]
		if math.Abs(got.Removal.Caches.Value-want.Value) > 1e-9 || math.Abs(got.Removal.Caches.Low-want.Low) > 1e-9 ||
			math.Abs(got.Removal.Caches.High-want.High) > 1e-9 {
			t.Errorf("%+v: the caches save %v, want %v", cost, got.Removal.Caches, want)
		}
		// Malloc is a fifth of all CPU, and nothing is in use.
		if d := got.Removal.CPU.Value - want.Value; math.Abs(d-0.2) > 1e-9 {
			t.Errorf("%+v: %v saved beside the caches, want 0.2", cost, d)
		}
		told := false
		for _, m := range d.Diagnosis().Gaps {
			told = told || m.Adds == "the part of a saving that no profile shows"
		}
		if told != (cost == nil) {
			t.Errorf("%+v: missing %+v", cost, d.Diagnosis().Gaps)
		}
	}
	cost := func(ns float64) *evidence.CacheMiss {
		return &evidence.CacheMiss{Threads: 1, LiveBytes: 10 << 20, NS: stats.Exact(ns), UseNS: max(2*ns, 1e3)}
	}
	f(nil, stats.Interval{})
	f(cost(0), stats.Interval{})
	// A million lines, of five seconds of CPU time of which four fifths are the
	// program's.
	of := func(ns float64) float64 { return 0.8 * (1 - math.Exp(-lines*ns/1e9/(4*time.Second).Seconds())) }
	f(cost(3), stats.Interval{Value: of(3), High: of(6)})
	f(cost(300), stats.Interval{Value: of(300), High: of(600)})
	// The comparisons do not tell it from nothing.
	unsure := cost(0)
	unsure.NS.High = 300
	f(unsure, stats.Interval{High: of(300)})
	f(cost(1e4), stats.Interval{Value: of(1e4), High: of(2e4)})
	if few := of(3); math.Abs(few-lines*3/1e9/5) > 1e-6 {
		t.Errorf("few lines cost %v", few)
	}
}

// TestAftermath: what a cycle costs the process beyond the collector's samples
// is the program's, goes with the cycles, and counts the less the less sure it is.
func TestAftermath(t *testing.T) {
	site := "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	f := func(cost *evidence.CycleCost, low, value, high float64) {
		t.Helper()
		r := newRecording(t)
		if err := r.w.Update(func(m *evidence.Manifest) { m.Runs[r.run].CycleCost = cost }); err != nil {
			t.Fatal(err)
		}
		// Ten seconds, of which the collector has two.
		r.cpuOf(evidence.Part{}, []sample{{"example.com/m.Work main.main", []int64{0, 700e7}},
			{site, []int64{0, 100e7}},
			{"runtime.scanobject runtime.gcDrain runtime.gcBgMarkWorker.func2 runtime.systemstack", []int64{0, 200e7}}})
		r.snapshot([]sample{{site, []int64{0, 0, 0, 0}}})
		r.snapshot([]sample{{site, []int64{1 << 20, 64 << 20, 0, 0}}})
		r.cycles(20, 10)
		d := r.diagnose()
		checkSums(t, d)
		got := d.Diagnosis().Findings[0].Removal.Caches
		if math.Abs(got.Low-low) > 0.003 || math.Abs(got.Value-value) > 0.003 || math.Abs(got.High-high) > 0.003 {
			t.Errorf("%+v: %v, want %v in %v to %v", cost, got, value, low, high)
		}
	}
	// Twenty cycles.
	cost := func(low, value, high float64) *evidence.CycleCost {
		return &evidence.CycleCost{Pairs: 20, Times: 3, NS: stats.Interval{Value: value, Low: low, High: high}}
	}
	f(nil, 0, 0, 0)
	f(cost(100e6, 100e6, 100e6), 0, 0, 0.025)         // just what the samples show
	f(cost(250e6, 250e6, 250e6), 0.275, 0.295, 0.325) // half of all, and sure
	f(cost(50e6, 250e6, 450e6), 0, 0.058, 0.7)        // and not sure: no more than the program has
	f(cost(10e6, 50e6, 90e6), 0, 0, 0)
}

// TestSavingPerOp: amounts of an operation are added up within one benchmark only.
func TestSavingPerOp(t *testing.T) {
	s := &Session{runs: []*runCosts{{Data: &run.Data{}}}}
	cut := func(of string, objects float64) finding.Cut {
		f := &finding.Finding{Run: of}
		f.Cost.ObjectsPerOp.Value = objects
		return finding.Cut{Finding: f, Objects: 0.5}
	}
	f := func(want float64, cuts ...finding.Cut) {
		t.Helper()
		if got := s.Saving(cuts).ObjectsPerOp.Value; got != want {
			t.Errorf("%v objects an operation, want %v", got, want)
		}
	}
	f(0)
	f(5, cut("BenchmarkA", 10))
	f(8, cut("BenchmarkA", 10), cut("BenchmarkA", 6))
	f(0, cut("BenchmarkA", 10), cut("BenchmarkB", 6))
}
