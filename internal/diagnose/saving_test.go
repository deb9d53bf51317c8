package diagnose

import (
	"math"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// A small value is cleared wherever it lives, so a cure that moves it saves no
// clearing; a buffer, a large value and what a library makes do save it.
func TestInitialised(t *testing.T) {
	type part struct {
		kind           Kind
		via            string
		objects, bytes float64
	}
	f := func(name string, want float64, parts ...part) {
		t.Helper()
		s := &siteTally{mix: map[mixKey]*mixTally{}}
		for _, p := range parts {
			s.bytes += p.bytes
			s.mix[mixKey{p.kind, p.via}] = &mixTally{objects: p.objects, bytes: p.bytes}
		}
		if got := s.initialised(); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	f("nothing allocated", 0)
	f("a small value", 1, part{KindNew, "", 10, 800})
	f("a buffer", 0, part{KindMake, "", 10, 800})
	f("a large value", 0, part{KindNew, "", 1, 1 << 20})
	f("inside a library", 0, part{KindNew, "encoding/json.Unmarshal", 10, 800})
	f("half and half", 0.5, part{KindNew, "", 10, 800}, part{KindGrowth, "", 1, 800})
}

// TestCaches: what a site's fresh memory costs the program's other code is its
// lines at the price that was measured, is in the saving and in no column, and
// is never a larger part of the program's own time than the loop lost.
func TestCaches(t *testing.T) {
	site := "runtime.mallocgc runtime.newobject example.com/m.A main.main"
	const lines = 1 << 20
	f := func(cost *evidence.FreshLine, want stats.Interval) {
		t.Helper()
		r := newRecording(t)
		if err := r.w.Update(func(m *evidence.Manifest) { m.Runs[r.run].FreshLine = cost }); err != nil {
			t.Fatal(err)
		}
		r.cpuOf(evidence.Part{}, []sample{{"example.com/m.Work main.main", []int64{0, 400e7}}, {site, []int64{0, 100e7}}})
		r.snapshot([]sample{{site, []int64{0, 0, 0, 0}}})
		r.snapshot([]sample{{site, []int64{lines, 64 * lines, 0, 0}}})
		r.cycles(20, 10)
		d := r.diagnose()
		checkSums(t, d)
		got := d.Findings[0]
		if math.Abs(got.Removal.Caches.Value-want.Value) > 1e-9 || math.Abs(got.Removal.Caches.Low-want.Low) > 1e-9 || math.Abs(got.Removal.Caches.High-want.High) > 1e-9 {
			t.Errorf("%+v: the caches save %v, want %v", cost, got.Removal.Caches, want)
		}
		// Malloc is a fifth of all CPU, and nothing is in use.
		if d := got.Removal.CPU.Value - want.Value; math.Abs(d-0.2) > 1e-9 {
			t.Errorf("%+v: %v saved beside the caches, want 0.2", cost, d)
		}
		told := false
		for _, m := range d.Missing {
			told = told || m.Adds == "the part of a saving that no profile shows"
		}
		if told != (cost == nil) {
			t.Errorf("%+v: missing %+v", cost, d.Missing)
		}
	}
	cost := func(ns float64) *evidence.FreshLine {
		return &evidence.FreshLine{Threads: 1, LiveBytes: 10 << 20, NS: stats.Exact(ns), UseNS: max(2*ns, 1e3)}
	}
	f(nil, stats.Interval{})
	f(cost(0), stats.Interval{})
	// A million lines at 300 ns, of five seconds of CPU time.
	v := lines * 300 / 1e9 / (5 * time.Second).Seconds()
	f(cost(300), stats.Interval{Value: v, High: 2 * v})
	// The comparisons do not tell it from nothing.
	unsure := cost(0)
	unsure.NS.High = 300
	f(unsure, stats.Interval{High: v})
	// The loop lost a half of its time, and four fifths of CPU are the program's.
	f(cost(1e4), stats.Interval{Value: 0.4, High: 0.8})
}
