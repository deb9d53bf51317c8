package tune

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
)

// cyclesOf returns samples of a heap that grows from 100 to 200 in each cycle. The
// fraction stays of what is freed remains in spans in use.
func cyclesOf(n int, stays float64) []evidence.Metrics {
	var out []evidence.Metrics
	for cycle := range n {
		slots := 2 + 100*stays
		for objects := 100.0; objects <= 200; objects += 20 {
			out = append(out, evidence.Metrics{Values: map[string]float64{
				metricCycles: float64(cycle), metricObjects: objects, metricUnused: math.Max(2, slots-(objects-100)), metricLive: 100,
			}})
		}
	}
	return out
}

// Scatter is known only from cycles that last for several samples.
func TestScatter(t *testing.T) {
	f := func(name string, samples []evidence.Metrics, want float64, known bool) {
		t.Helper()
		e := evidenceOf{samples: samples}
		got, slack, ok := e.scatter()
		if ok != known || math.Abs(got.Value-want) > 1e-9 || got.Low > got.Value || got.High < got.Value {
			t.Errorf("%s: %+v, %v, want %v, %v", name, got, ok, want, known)
		}
		if known && math.Abs(slack-0.01) > 1e-9 {
			t.Errorf("%s: %v of a full heap is free, want 0.01", name, slack)
		}
	}
	f("half", cyclesOf(20, 0.5), 0.5, true)
	f("little", cyclesOf(20, 0.1), 0.1, true)
	f("all", cyclesOf(20, 1), mostScatter, true)
	f("few cycles", cyclesOf(5, 0.5), usualScatter().Value, false)
	f("none", nil, usualScatter().Value, false)
	var fast []evidence.Metrics
	for i, s := range cyclesOf(20, 0.5) {
		s.Values[metricCycles] = float64(10 * i)
		fast = append(fast, s)
	}
	f("one sample a cycle", fast, usualScatter().Value, false)
}

// Free slots are relative to the largest heap, even if no sample hit it.
func TestMemorySlack(t *testing.T) {
	e := evidenceOf{samples: []evidence.Metrics{{Values: map[string]float64{
		metricObjects: 100, metricUnused: 30, metricSpans: 2, metricTotal: 200, metricFree: 20, metricGone: 10,
	}}}}
	m := e.memory(&gcmodel.Trace{Peak: 160})
	if m.Slack != 32.0/160 || m.Fixed != 200-20-10-100-32 {
		t.Errorf("got %+v, want 0.2 of 160 free, and 38 fixed", m)
	}
}

// The recorder's part of the resident set is subtracted. An unknown resident set stays
// unknown.
func TestResident(t *testing.T) {
	f := func(rss, own int64, want float64) {
		t.Helper()
		log := evidence.Part{PeakRSS: rss, OwnResident: own}
		if got := resident(evidence.Run{Parts: []evidence.Part{log}}, log); got != want {
			t.Errorf("%d bytes resident, %d of them the recorder's: %v without, want %v", rss, own, got, want)
		}
	}
	f(0, 0, 0)
	f(1<<20, 0, 0)
	f(10<<20, 0, 10<<20-recorderResident)
	f(10<<20, 4<<20, 6<<20)
	log := evidence.Part{PeakRSS: 10 << 20} // of a pass without a recorder, in a recording that says what it takes
	if got := resident(evidence.Run{Parts: []evidence.Part{log, {OwnResident: 1 << 20}}}, log); got != 10<<20 {
		t.Errorf("nothing of the recorder: %v", got)
	}
	f(1<<20, 4<<20, 0)
}
