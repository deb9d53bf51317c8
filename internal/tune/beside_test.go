package tune

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/stats"
)

func TestBeside(t *testing.T) {
	around := func(v float64) stats.Interval { return stats.Interval{Value: v, Low: v * 0.9, High: v * 1.1} }
	today := Point{Forecast: gcmodel.Forecast{Collector: around(0.2), Assist: around(0.1), Peak: around(100), Cycles: around(40), CPU: stats.Exact(1), RSS: around(200)}}
	chosen := Point{Forecast: gcmodel.Forecast{Collector: around(0.1), Peak: around(200), Cycles: around(10), CPU: stats.Exact(0.9), Idle: stats.Exact(0.1), RSS: around(300)}}
	var changes []prove.Change
	for _, u := range []string{unitCPUReq, unitGC, unitAssist, unitHeap, unitRSS, unitCycles, unitP99, "req/s"} {
		changes = append(changes, prove.Change{Metric: prove.Metric{Unit: u}, Delta: stats.Interval{Value: -0.5, Low: -0.51, High: -0.49}})
	}
	r := &prove.Result{Comparisons: []prove.Comparison{{Changes: changes}}}
	want := map[string]float64{unitCPUReq: -0.19, unitGC: -0.5, unitAssist: -1, unitHeap: 1, unitRSS: 0.5, unitCycles: -0.75}
	for _, row := range beside(r, today, chosen) {
		w, ok := want[row.Unit]
		if ok != (row.Forecast != nil) {
			t.Errorf("%s: forecast %v, want one: %v", row.Unit, row.Forecast, ok)
			continue
		}
		if !ok {
			continue
		}
		d := row.Forecast.Delta
		if math.Abs(d.Value-w) > 1e-9 || d.Low > d.Value || d.High < d.Value {
			t.Errorf("%s: %v, want %v", row.Unit, d, w)
		}
		if meets, known := row.Meets(); !known || meets != (row.Unit == unitGC) {
			t.Errorf("%s: meets %v, %v", row.Unit, meets, known)
		}
		if absolute := row.Unit != unitCPUReq && row.Unit != unitCycles; absolute != (row.Forecast.A.Value > 0) {
			t.Errorf("%s: amounts %v", row.Unit, row.Forecast)
		}
	}
	for _, row := range beside(r, today, Point{Refused: "limiter territory"}) {
		if row.Forecast != nil {
			t.Errorf("%s: %v where there is no forecast", row.Unit, row.Forecast)
		}
	}
	unknown := Row{Change: prove.Change{Delta: stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}}, Forecast: &Expected{}}
	if _, known := unknown.Meets(); known {
		t.Error("a change without bounds meets a forecast")
	}
}
