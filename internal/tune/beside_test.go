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
	today := Point{Forecast: gcmodel.Forecast{Collector: around(0.2), Assist: around(0.1), Peak: around(100),
		Cycles: around(40), CPU: stats.Exact(1), RSS: around(200)}}
	chosen := Point{Forecast: gcmodel.Forecast{Collector: around(0.1), Peak: around(200), Cycles: around(10),
		CPU: stats.Exact(0.9), Idle: stats.Exact(0.1), RSS: around(300)}}
	var changes []prove.Change
	for _, u := range []string{unitCPUReq, unitGC, unitAssist, unitHeap, unitRSS, unitCycles, unitP99, "req/s"} {
		changes = append(changes, prove.Change{Metric: prove.Metric{Unit: u},
			Delta: stats.Interval{Value: -0.5, Low: -0.51, High: -0.49}})
	}
	r := &prove.Result{Comparisons: []prove.Comparison{{Changes: changes}}}
	want := map[string]float64{unitCPUReq: -0.1, unitGC: -0.5, unitAssist: -1, unitHeap: 1, unitRSS: 0.5,
		unitCycles: -0.75}
	for _, row := range beside(r, today, chosen) {
		w, ok := want[row.Change.Unit]
		if ok != (row.Forecast != nil) {
			t.Errorf("%s: forecast %v, want one: %v", row.Change.Unit, row.Forecast, ok)
			continue
		}
		if !ok {
			continue
		}
		d := row.Forecast.Delta
		if math.Abs(d.Value-w) > 1e-9 || d.Low > d.Value || d.High < d.Value {
			t.Errorf("%s: %v, want %v", row.Change.Unit, d, w)
		}
		if meets, known := row.Meets(); !known || meets != (row.Change.Unit == unitGC) {
			t.Errorf("%s: meets %v, %v", row.Change.Unit, meets, known)
		}
		if absolute := row.Change.Unit != unitCPUReq &&
			row.Change.Unit != unitCycles; absolute != (row.Forecast.A.Value > 0) {
			t.Errorf("%s: amounts %v", row.Change.Unit, row.Forecast)
		}
	}
	for _, row := range beside(r, today, Point{Refused: "limiter territory"}) {
		if row.Forecast != nil {
			t.Errorf("%s: %v where there is no forecast", row.Change.Unit, row.Forecast)
		}
	}
	unknown := Row{Change: prove.Change{Delta: stats.Interval{Low: math.Inf(-1), High: math.Inf(1)}},
		Forecast: &Expected{}}
	if _, known := unknown.Meets(); known {
		t.Error("a change without bounds meets a forecast")
	}
}

// TestSaved checks that the saving is taken from all CPU time if the collector's clock
// counts more than there was.
func TestSaved(t *testing.T) {
	result := func(a, b float64) *prove.Result {
		return &prove.Result{Comparisons: []prove.Comparison{{Changes: []prove.Change{
			{Metric: prove.Metric{Unit: unitGC}, A: stats.Exact(a), B: stats.Exact(b),
				Runs: prove.RunCount{A: 8, B: 8}},
			{Metric: prove.Metric{Unit: unitCPUReq}, A: stats.Exact(10), B: stats.Exact(9), Delta: stats.Exact(-0.1),
				Runs: prove.RunCount{A: 8, B: 8}},
		}}}}
	}
	f := func(a, b, want float64) {
		t.Helper()
		if got := saved(result(a, b)); math.Abs(got.Value-want) > 1e-9 {
			t.Errorf("the collector takes %v, then %v: saved %v, want %v", a, b, got, want)
		}
	}
	f(0.3, 0.1, 0.2)
	f(0.1, 0.3, -0.2)
	f(3.9, 2.1, 0.1)
	f(0.9, 1.2, 0.1)
	if got := saved(&prove.Result{}); !math.IsNaN(got.Value) {
		t.Errorf("nothing measured: %v", got)
	}
}

// TestBallastOfRelease checks that Try gives the reason for what it cannot try and
// keeps today's setting.
func TestBallastOfRelease(t *testing.T) {
	p := &Plan{Choice: Choice{Knob: KnobBallast, Costs: 1,
		Point: Point{Forecast: gcmodel.Forecast{Setting: gcmodel.Setting{GOGC: 100, Ballast: 1 << 20}}}}}
	p.Workload.Trace = &gcmodel.Trace{Setting: gcmodel.Setting{GOGC: 100}}
	got, err := Try(t.Context(), p, TryOptions{Command: prove.Command{Package: "example.com/x@v1.0.0"}})
	if err != nil || got.Compared != nil || got.Stopped == "" || got.Chosen != got.Today {
		t.Errorf("%+v, %v, want nothing tried and the reason", got, err)
	}
}
