package gcmodel_test

import (
	"errors"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
)

// hindered is a busy program whose assists do half of the marking, with so much
// allocated beside a cycle.
func hindered(percent int, room, beside float64) *gcmodel.Trace {
	const live = 4 * mebi
	t := steady(live, gcmodel.Setting{GOGC: percent})
	t.Points, t.Dies, t.CPU = nil, 1, 12
	for i := range 81 {
		t.Points = append(t.Points, gcmodel.Point{
			At: float64(i) * room, Live: live, End: live + beside + room, Beside: beside, Natural: beside * 1.5, HeapScan: 2 * mebi, ConsMark: 0.8,
			Background: 0.005, Assist: 0.005 * float64(1+i%3),
		})
	}
	t.Peak = live + beside + room
	return t
}

// What is allocated beside a cycle counts as marked. Where assists keep it small,
// the headroom of a larger GOGC is more than the recording shows: that is asked
// for, the bounds reach for it, and a second recording tells.
func TestHinders(t *testing.T) {
	f, err := gcmodel.NewForecaster(hindered(100, 5.4*mebi, 1.4*mebi))
	if err != nil {
		t.Fatal(err)
	}
	if !f.Hinders() {
		t.Fatal("assists do half of the marking, and do not hinder")
	}
	if s, ok := f.Ask(); !ok || s != (gcmodel.Setting{GOGC: 400}) {
		t.Errorf("asks for %+v, %v, want GOGC=400", s, ok)
	}
	at := func(percent int) gcmodel.Forecast {
		t.Helper()
		v, err := f.At(gcmodel.Setting{GOGC: percent})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := at(200)
	if err := f.Learn(hindered(400, 40*mebi, 5*mebi)); err != nil {
		t.Fatal(err)
	}
	after := at(200)
	if after.PerCycle.Value < 1.1*before.PerCycle.Value {
		t.Errorf("%.1f MiB per cycle, %.1f without the second recording", after.PerCycle.Value/mebi, before.PerCycle.Value/mebi)
	}
	if before.PerCycle.High < 1.25*before.PerCycle.Value {
		t.Errorf("the bounds reach to %.1f MiB per cycle, from %.1f", before.PerCycle.High/mebi, before.PerCycle.Value/mebi)
	}
	none, err := gcmodel.NewForecaster(steady(100*mebi, gcmodel.Setting{GOGC: 100}))
	if err != nil {
		t.Fatal(err)
	}
	if none.Hinders() {
		t.Error("a program whose assists do a tenth of the marking hinders")
	}
}

// A setting whose bytes per cycle may be anything is no forecast.
func TestUnknown(t *testing.T) {
	tr := steady(100*mebi, gcmodel.Setting{GOGC: 100})
	tr.Whole, tr.Bytes = true, 6000*mebi
	for i := range tr.Points {
		p := &tr.Points[i]
		p.At, p.ConsMark, p.Beside, p.Natural = float64(i+1)*300*mebi, 0.2, 10*mebi, 10*mebi
	}
	s := gcmodel.Setting{GOGC: -1, Limit: 600 * mebi}
	f := func(low, high float64, want error) {
		t.Helper()
		tr.Memory.Scatter.Value, tr.Memory.Scatter.Low, tr.Memory.Scatter.High = low, low, high
		fc, err := gcmodel.NewForecaster(tr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fc.At(s); !errors.Is(err, want) {
			t.Errorf("between %v and %v of the garbage in spans in use: %v, want %v", low, high, err, want)
		}
	}
	f(0.05, 0.1, nil)
	f(0.05, 1, gcmodel.ErrUnknown)
}
