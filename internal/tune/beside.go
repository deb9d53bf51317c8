package tune

import (
	"math"
	"time"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Latency is what a load tool reports for its requests, the median over runs.
type Latency struct {
	P50, P99 time.Duration // 0: not reported
}

// latencyOf returns the latencies of both sides.
func latencyOf(r *prove.Result) [2]Latency {
	var out [2]Latency
	for side := range out {
		out[side] = Latency{time.Duration(valueOf(r, unitP50, side)), time.Duration(valueOf(r, unitP99, side))}
	}
	return out
}

// Row is one quantity of the final comparison: the measured change and, if the model
// predicts it, the forecast.
type Row struct {
	Change   prove.Change
	Forecast *Expected
}

// Expected is the model's forecast of a quantity. Delta is the change as a fraction of
// A. A and B are zero if only the change is known.
type Expected struct {
	A, B, Delta stats.Interval
}

// Meets reports whether the measured and the forecast change overlap. known is false
// if either has no interval.
func (r Row) Meets() (meets, known bool) {
	if r.Forecast == nil || !bounded(r.Change.Delta) || !bounded(r.Forecast.Delta) {
		return false, false
	}
	return r.Change.Delta.Overlaps(r.Forecast.Delta), true
}

func bounded(i stats.Interval) bool {
	return !math.IsNaN(i.Low) && !math.IsNaN(i.High) && !math.IsInf(i.Low, 0) && !math.IsInf(i.High, 0)
}

// beside pairs each measured change with the forecast change from today's setting to
// the chosen one.
func beside(r *prove.Result, today, chosen Point) []Row {
	var out []Row
	for _, c := range r.Comparisons {
		for _, ch := range c.Changes {
			row := Row{Change: ch}
			if today.Known() && chosen.Known() {
				row.Forecast = expected(ch.Unit, today.Forecast, chosen.Forecast)
			}
			out = append(out, row)
		}
	}
	return out
}

// expected returns the forecast of one of prove's units; nil if there is none.
func expected(u string, today, chosen gcmodel.Forecast) *Expected {
	between := func(of func(gcmodel.Forecast) stats.Interval) *Expected {
		a, b := of(today), of(chosen)
		if !(a.Value > 0) || !(b.Value >= 0) {
			return nil
		}
		return &Expected{a, b, ratio(a, b)}
	}
	switch u {
	case unitGC:
		return between(func(f gcmodel.Forecast) stats.Interval { return f.Collector })
	case unitAssist:
		return between(func(f gcmodel.Forecast) stats.Interval { return f.Assist })
	case unitHeap:
		return between(func(f gcmodel.Forecast) stats.Interval { return f.Peak })
	case unitRSS:
		return between(func(f gcmodel.Forecast) stats.Interval { return f.RSS })
	case unitCycles:
		// The number of cycles depends on how long the runs take.
		return change(between(func(f gcmodel.Forecast) stats.Interval { return f.Cycles }))
	case unitCPUReq, unitCPU:
		return change(between(func(f gcmodel.Forecast) stats.Interval { return f.CPU }))
	}
	return nil
}

// change drops all but the change from an expectation.
func change(e *Expected) *Expected {
	if e == nil {
		return nil
	}
	return &Expected{Delta: e.Delta}
}

// ratio returns the change from a to b as a fraction of a, with the error of b alone.
// The error of a is ignored: a is the recorded setting, to which the model is fitted,
// and its error there recurs in b.
func ratio(a, b stats.Interval) stats.Interval {
	at := func(a, b float64) float64 {
		if a <= 0 {
			return math.NaN()
		}
		return b/a - 1
	}
	v := at(a.Value, b.Value)
	out := stats.Interval{Value: v, Low: v, High: v}
	for _, w := range []float64{at(a.Value, b.Low), at(a.Value, b.High)} {
		if !math.IsNaN(w) {
			out.Low, out.High = math.Min(out.Low, w), math.Max(out.High, w)
		}
	}
	return out
}
