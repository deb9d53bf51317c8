package gcmodel

import (
	"errors"
	"math"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// errNoContrast says that two traces do not determine the exponent.
var errNoContrast = errors.New("both recordings have heaps of about the same size")

// Learn estimates the exponent of this program from a second trace under another setting, by
// cost and size of the cycles of both, and weighs it with that of programs in general. If
// the second trace has enough cycles, settings that are nearer to its own are then forecast
// from it. It is kept and must not change.
func (f *Forecaster) Learn(second *Trace) error {
	if err := second.Check(); err != nil {
		return err
	}
	a, b := f.trace.cost(), second.cost()
	if a.perWork <= 0 || b.perWork <= 0 || a.end <= 0 || b.end <= 0 {
		return errNoContrast
	}
	distance := math.Log(b.end / a.end)
	if math.Abs(distance) < leastContrast {
		return errNoContrast
	}
	e := math.Log(b.perWork/a.perWork) / distance
	own := math.Hypot(math.Hypot(a.error, b.error), runError) / math.Abs(distance)
	// Each estimate, of this program and of programs in general, is weighted by its
	// certainty: two short recordings on a busy machine say little.
	general := (generalExponent.High - generalExponent.Low) / 2 / stats.Z95
	share := general * general / (general*general + own*own)
	e = share*e + (1-share)*generalExponent.Value
	half := stats.Z95 * general * math.Sqrt(1-share)
	f.Exponent = stats.Interval{Value: e, Low: e - half, High: e + half}
	f.Assumed = false
	if o, err := NewForecaster(second); err == nil && len(second.Points) >= fewToWalk {
		o.Exponent, o.Assumed = f.Exponent, false
		f.other = o
		if k := o.course.freely() / f.course.freely(); k > 1 && f.Hinders() {
			f.unhinder(math.Min(k, mostFreer))
		}
	}
	return nil
}

// unhinder applies to the first trace what the second shows of the allocation during a cycle
// without assists.
func (f *Forecaster) unhinder(k float64) {
	f.course.unhinder(k)
	f.calibrate()
}

// mostFreer bounds the allocation during cycles of the first trace that a second trace
// implies.
const mostFreer = 10

// Hinders reports whether assists do so much of the marking, and so much is allocated during
// it, that the allocation without assists is not known. That allocation counts as marked:
// the heap after a cycle depends on it, and the distance to the next.
func (f *Forecaster) Hinders() bool {
	background, assist, idle, _ := f.trace.costs()
	beside, marked := 0.0, 0.0
	for _, p := range f.trace.Points {
		beside, marked = beside+p.Beside, marked+f.trace.marked(p)
	}
	return assist >= hinderedWork*(background+assist+idle) && beside >= hinderedHeap*marked
}

const (
	hinderedWork = 0.2 // of the marking
	hinderedHeap = 0.1 // of the bytes marked
)

// Ask reports whether a second recording, as long as the first, would help, and under which
// setting: GOGC=400, or four times a larger one. It would in two cases. The collector's
// share is large enough for the exponent to matter, and the cycles of the second, about a
// fifth as many, would give the cost of a cycle more precisely than programs in general do.
// Or assists hide the allocation during a cycle (Hinders), and the second has enough cycles
// to show it.
func (f *Forecaster) Ask() (Setting, bool) {
	t := f.trace
	s := t.Setting
	if !f.Assumed || s.GOGC <= 0 || s.GOGC > maxGOGC/askedTimes || s.Ballast > 0 || t.CPU <= 0 || f.LimitRatio(s) < 2*askedTimes {
		return Setting{}, false
	}
	background, assist, _, pause := t.costs()
	chance := f.costScatter() / stats.Z95 * math.Sqrt(askedTimes+1)
	s.GOGC = askedTimes * max(s.GOGC, 100)
	enough := len(t.Points) >= fewToWalk*(askedTimes+1)
	return s, (background+assist+pause)/t.CPU >= askedShare && (chance <= askedChance || enough && f.Hinders())
}

const (
	askedTimes  = 4
	askedShare  = 0.05 // of CPU
	askedChance = 0.1  // standard error of a cycle's cost in the second recording, as a fraction
)

// fewToWalk is how many cycles a second trace must have to be walked itself.
const fewToWalk = 8

// doubt is the variance of a forecast: from the distance to the recorded setting, from
// differences between two runs, and from few cycles that differ.
func (f *Forecaster) doubt(s Setting) float64 {
	away := pacerError * (f.far(s) - 1)
	chance := f.costScatter() / stats.Z95
	return away*away + runError*runError + chance*chance
}

// blend weighs a forecast from the first trace with one from the second, which may be nearer
// to the setting: each by the inverse of its doubt.
func (f *Forecaster) blend(own Forecast) Forecast {
	if f.other == nil {
		return own
	}
	there, err := f.other.At(own.Setting)
	if err != nil {
		return own
	}
	here, far := f.doubt(own.Setting), f.other.doubt(own.Setting)
	part := here / (here + far)
	switch a, b, is := f.room(f.trace.Setting), f.room(f.other.trace.Setting), f.room(own.Setting); {
	case math.IsInf(a, 1) || math.IsInf(b, 1) || math.IsInf(is, 1):
	case is < a && a < b, is > a && a > b:
		part = 0 // both are wrong in the same direction, and the second more so
	case is < b && b < a, is > b && b > a:
		part = 1
	}
	out := own
	for _, i := range [...]struct{ to, from *stats.Interval }{
		{&out.PerCycle, &there.PerCycle}, {&out.Collector, &there.Collector}, {&out.Dedicated, &there.Dedicated}, {&out.Assist, &there.Assist},
		{&out.Idle, &there.Idle}, {&out.Peak, &there.Peak},
	} {
		*i.to = between(*i.to, *i.from, part)
	}
	f.resident(&out)
	out.Pinned += (there.Pinned - own.Pinned) * part
	// The amount of work is the first trace's.
	if k := own.PerCycle.Value / out.PerCycle.Value; k > 0 && !math.IsInf(k, 0) {
		out.Cycles, out.PerSecond = own.Cycles.Scale(k), own.PerSecond.Scale(k)
	}
	rest := func(v Forecast) float64 { return math.Max(1-v.Collector.Value, leastOwn) }
	out.CPU = own.CPU.Scale(rest(own) / rest(out))
	return out
}

// between is a part of the way from one interval to another; an infinite bound
// stays.
func between(a, b stats.Interval, part float64) stats.Interval {
	mix := func(x, y float64) float64 {
		if math.IsInf(x, 0) || math.IsInf(y, 0) {
			return math.Max(x, y)
		}
		return x + (y-x)*part
	}
	return stats.Interval{Value: mix(a.Value, b.Value), Low: mix(a.Low, b.Low), High: mix(a.High, b.High)}
}

// runError is the standard deviation of a cycle's cost between two runs of the same program
// under the same setting: the speed of the processor and its caches varies.
const runError = 0.08

// leastContrast is the least logarithm of the ratio of two heaps' sizes.
const leastContrast = 0.3

// meanCost is the mean cost of a cycle.
type meanCost struct {
	perWork float64 // processor seconds per byte of live heap
	end     float64 // geometric mean of the heap's size at the cycles' ends
	error   float64 // standard error of perWork, as a fraction
}

func (t *Trace) cost() meanCost {
	var m meanCost
	var total, live, logs float64
	var each []float64
	for _, p := range t.Points {
		if p.End <= 0 {
			continue
		}
		total += p.total()
		live += t.marked(p)
		logs += math.Log(p.End)
		each = append(each, p.total())
	}
	n := float64(len(each))
	if n == 0 || live == 0 {
		return m
	}
	m.perWork, m.end = total/live, math.Exp(logs/n)
	m.error = spread(each, total/n) / math.Sqrt(n)
	return m
}

// Scaled is the forecaster of the same program with a live heap k times as large, with what
// f has learnt.
func (f *Forecaster) Scaled(k float64) *Forecaster {
	s := *f
	s.trace = f.trace.scaled(k)
	s.course = s.trace.course()
	if f.course.fit.freer > 1 {
		s.course.unhinder(f.course.fit.freer)
	}
	s.course.fit.eager = f.course.fit.eager
	if f.other != nil {
		s.other = f.other.Scaled(k)
	}
	return &s
}

// scaled is the program with a live heap k times as large, and everything in proportion to
// it.
func (t *Trace) scaled(k float64) *Trace {
	s := *t
	s.Points = make([]Point, len(t.Points))
	for i, p := range t.Points {
		p.Live *= k
		p.HeapScan *= k
		p.Beside *= k
		p.Natural *= k
		p.End *= k
		p.scaleCost(k)
		s.Points[i] = p
	}
	s.Peak *= k
	if s.RSS > 0 {
		s.RSS += t.Peak * (k - 1) * (1 + t.Memory.Slack)
	}
	return &s
}
