package web

import (
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// timeRun is one run over time. All columns of a group have the same length;
// times are seconds, sizes bytes.
type timeRun struct {
	Run     string        `json:"run"`
	PeakRSS int64         `json:"peak_rss_bytes"` // 0: not known
	Cycles  cycleColumns  `json:"cycles"`
	Metrics metricColumns `json:"metrics"`
	Thinned int           `json:"thinned"` // cycles of which one is shown each; 0 and 1: all are
}

// cycleColumns are the collections, at the time each ended.
type cycleColumns struct {
	At         []float64 `json:"at"`
	Start      []int64   `json:"heap_start"`
	End        []int64   `json:"heap_end"`
	Live       []int64   `json:"heap_live"`
	Goal       []int64   `json:"goal"`
	Pause      []float64 `json:"pause"`  // both pauses, seconds
	Assist     []float64 `json:"assist"` // processor seconds
	Background []float64 `json:"background"`
	Idle       []float64 `json:"idle"`
	Forced     []int     `json:"forced"` // 1 for a cycle that the program asked for
}

// metricColumns are samples of runtime/metrics. Rates are between a sample and
// the one before it; the first has none and is left out.
type metricColumns struct {
	At        []float64 `json:"at"`
	Held      []float64 `json:"held"`       // mapped by the Go runtime and not given back
	Objects   []float64 `json:"objects"`    // heap objects, dead ones not yet swept included
	Live      []float64 `json:"live"`       // marked by the last cycle
	Goal      []float64 `json:"goal"`       //
	AllocRate []float64 `json:"alloc_rate"` // bytes/s
	AssistCPU []float64 `json:"assist_cpu"` // processors busy with mark assist
	Goroutine []float64 `json:"goroutines"`
	RSS       []float64 `json:"rss"` // resident set of the process; empty where no sample has it
}

// maxPoints bounds the points of a column; a screen has fewer.
const maxPoints = 4000

func newTimeRuns(d *diagnose.Session) []timeRun {
	out := []timeRun{}
	for _, s := range d.Series() {
		r := timeRun{Run: s.Run, PeakRSS: int64(s.PeakRSS)}
		r.Thinned = (len(s.Cycles) + maxPoints - 1) / maxPoints
		r.Cycles = newCycles(s.Cycles, max(r.Thinned, 1))
		r.Metrics = newMetrics(s.Metrics, max((len(s.Metrics)+maxPoints-1)/maxPoints, 1))
		out = append(out, r)
	}
	return out
}

// newCycles takes one of every step cycles: the one with the longest pause, so
// that no peak is lost.
func newCycles(cycles []evidence.Cycle, step int) cycleColumns {
	c := cycleColumns{At: []float64{}, Start: []int64{}, End: []int64{}, Live: []int64{}, Goal: []int64{}, Pause: []float64{}, Assist: []float64{}, Background: []float64{}, Idle: []float64{}, Forced: []int{}}
	pause := func(x evidence.Cycle) time.Duration { return x.Wall.SweepTermination + x.Wall.MarkTermination }
	for i := 0; i < len(cycles); i += step {
		x := cycles[i]
		for _, other := range cycles[i:min(i+step, len(cycles))] {
			if pause(other) > pause(x) {
				x = other
			}
		}
		forced := 0
		if x.Forced {
			forced = 1
		}
		live, goal, start, end := x.HeapLive, x.Goal, x.HeapStart, x.HeapEnd
		if x.Pacer != nil { // exact, where gctrace cuts to whole MiB
			start, end = x.Pacer.Trigger, x.Pacer.End
		}
		c.At = append(c.At, x.At.Seconds())
		c.Start, c.End = append(c.Start, int64(start)), append(c.End, int64(end))
		c.Live, c.Goal = append(c.Live, int64(live)), append(c.Goal, int64(goal))
		c.Pause, c.Assist = append(c.Pause, pause(x).Seconds()), append(c.Assist, x.Used.Assist.Seconds())
		c.Background, c.Idle = append(c.Background, x.Used.Background.Seconds()), append(c.Idle, x.Used.Idle.Seconds())
		c.Forced = append(c.Forced, forced)
	}
	return c
}

// unlimited is what the runtime reports for no goal at all.
const unlimited = float64(1 << 60)

func newMetrics(samples []evidence.Metrics, step int) metricColumns {
	m := metricColumns{At: []float64{}, Held: []float64{}, Objects: []float64{}, Live: []float64{}, Goal: []float64{}, AllocRate: []float64{}, AssistCPU: []float64{}, Goroutine: []float64{}, RSS: []float64{}}
	known := slices.ContainsFunc(samples, func(s evidence.Metrics) bool { return s.Values[evidence.MetricRSS] > 0 })
	for i := step; i < len(samples); i += step {
		now, before := samples[i], samples[i-step]
		sec := (now.At - before.At).Seconds()
		if sec <= 0 {
			continue
		}
		rate := func(name string) float64 { return (now.Values[name] - before.Values[name]) / sec }
		goal := now.Values["/gc/heap/goal:bytes"]
		if goal >= unlimited {
			goal = 0
		}
		m.At = append(m.At, now.At.Seconds())
		m.Held = append(m.Held, now.Values["/memory/classes/total:bytes"]-now.Values["/memory/classes/heap/released:bytes"])
		m.Objects = append(m.Objects, now.Values["/memory/classes/heap/objects:bytes"])
		m.Live, m.Goal = append(m.Live, now.Values["/gc/heap/live:bytes"]), append(m.Goal, goal)
		m.AllocRate = append(m.AllocRate, rate("/gc/heap/allocs:bytes"))
		m.AssistCPU = append(m.AssistCPU, rate("/cpu/classes/gc/mark/assist:cpu-seconds"))
		m.Goroutine = append(m.Goroutine, now.Values["/sched/goroutines:goroutines"])
		if known {
			m.RSS = append(m.RSS, now.Values[evidence.MetricRSS])
		}
	}
	return m
}

// whatIfRun is what the page needs to compute the collector's cost under
// another setting by the pacer's formula, as package gcmodel does.
type whatIfRun struct {
	Run       string     `json:"run"`
	Live      float64    `json:"live"`
	Roots     float64    `json:"roots"` // stacks and globals
	NonHeap   float64    `json:"non_heap"`
	GOGC      int        `json:"gogc"`  // -1: off
	Limit     int64      `json:"limit"` // 0: none
	Ballast   int64      `json:"ballast"`
	Collected [3]float64 `json:"collected"` // share of CPU today: value and 95 % bounds
}

func newWhatIf(d *diagnose.Session) []whatIfRun {
	out := []whatIfRun{}
	for _, m := range d.Models() {
		out = append(out, whatIfRun{
			Run: m.Run, Live: m.Workload.Live, Roots: m.Workload.Stacks + m.Workload.Globals, NonHeap: m.Workload.NonHeap,
			GOGC: m.Setting.GOGC, Limit: int64(m.Setting.Limit), Ballast: int64(max(m.Setting.Ballast, unit.Bytes(0))),
			Collected: [3]float64{m.Collected.Value, m.Collected.Low, m.Collected.High},
		})
	}
	return out
}
