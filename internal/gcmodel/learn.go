package gcmodel

import (
	"errors"
	"math"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// errNoContrast says that two traces cannot tell the exponent.
var errNoContrast = errors.New("both recordings have heaps of about the same size")

// Learn takes the exponent of this program from a second trace of it under
// another setting: cost and size of its cycles against those of the first, and
// weighs it with what programs in general show.
func (f *Forecaster) Learn(second *Trace) error {
	if err := second.check(); err != nil {
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
	// Each of the two, what this program shows and what programs in general do,
	// counts by its own certainty: two short recordings on a busy machine say
	// little.
	general := (generalExponent.High - generalExponent.Low) / 2 / stats.Z95
	share := general * general / (general*general + own*own)
	e = share*e + (1-share)*generalExponent.Value
	half := stats.Z95 * general * math.Sqrt(1-share)
	f.Exponent = stats.Interval{Value: e, Low: e - half, High: e + half}
	f.Assumed = false
	return nil
}

// runError is what the cost of a cycle differs by between two runs of the same
// program under the same setting, one standard deviation: how fast the processor
// and its caches happen to be.
const runError = 0.06

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
		live += p.Live + t.Dies*p.Beside
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

// Scaled answers for the same program with a live heap k times as large, with
// what f has learnt.
func (f *Forecaster) Scaled(k float64) *Forecaster {
	s := *f
	s.trace = f.trace.scaled(k)
	s.course = s.trace.course()
	return &s
}

// scaled is the program with a live heap k times as large, and all that goes
// with it.
func (t *Trace) scaled(k float64) *Trace {
	s := *t
	s.Points = make([]Point, len(t.Points))
	for i, p := range t.Points {
		p.Live *= k
		p.HeapScan *= k
		p.Beside *= k
		p.Natural *= k
		p.End *= k
		p.Headroom *= k
		p.Background *= k
		p.Assist *= k
		p.Idle *= k
		p.Pause *= k
		s.Points[i] = p
	}
	s.Peak *= k
	if s.RSS > 0 {
		s.RSS += t.Peak * (k - 1) * (1 + t.Memory.Slack)
	}
	return &s
}
