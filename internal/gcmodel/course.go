package gcmodel

import (
	"math"
	"slices"
)

// wasted is how many of the bytes that count as allocated by the pacer hold no
// object, as a part of them: the ends of spans, and the bits that the runtime
// keeps there. Measured on the programs of lab/whatif under all their settings:
// 0.022 to 0.034.
const wasted = 0.027

// mostUnused bounds what is taken to be unused, as a part of what a cycle adds
// to the heap.
const mostUnused = 0.3

// course is the trace as walks follow it, with the bytes allocated counted
// anew: what is not used of what a cycle adds to the heap is a part of that,
// and some slots of the spans that processors hold.
func (t *Trace) course() *Trace {
	c := *t
	c.once = t.Whole || t.Drifts()
	c.Points = slices.Clone(t.Points)
	c.relay(t)
	c.swing = swingOf(c.Points)
	c.late = t.lateness()
	return &c
}

// lateness is by how much later than the pacer's formula says the recorded
// cycles began, on the whole. The formula itself is right to a hundredth of a
// MiB in the median; programs that allocate in large pieces jump over it.
func (t *Trace) lateness() float64 {
	var c pacer
	sum, n := 0.0, 0.0
	for i, p := range t.Points {
		if _, trigger, _ := c.aim(t, t.Setting); i > 0 && !math.IsInf(trigger, 0) {
			sum += p.End - p.Beside - trigger
			n++
		}
		c.marked = p.Live + t.Dies*p.Beside + float64(t.Setting.Ballast)
		c.next(p)
	}
	if n == 0 || t.Unused <= 0 {
		return 0
	}
	return math.Max(0, sum/n)
}

// relay lays the points of t anew.
func (c *Trace) relay(t *Trace) {
	if t.Unused <= 0 {
		return
	}
	grown := make([]float64, len(t.Points))
	sum := 0.0
	for i, p := range t.Points {
		switch {
		case i > 0:
			// A forced cycle between the two has its own part in At.
			before := t.Points[i-1]
			grown[i] = math.Max(p.At-before.At+t.Unused, p.End-before.Live-t.Dies*before.Beside)
		case t.Whole:
			grown[i] = math.Max(p.At+t.Unused, p.End)
		}
		sum += grown[i]
	}
	c.fresh = math.Max(0, t.Unused-wasted*sum/float64(len(t.Points)))
	at := 0.0
	if !t.Whole {
		at = t.Points[0].At
	}
	for i := range c.Points {
		at += c.used(grown[i])
		c.Points[i].At = at
	}
	if t.Whole {
		c.Bytes = at + math.Max(0, t.Bytes-t.Points[len(t.Points)-1].At)
	}
}

// used is how much is allocated while the heap grows so much.
func (t *Trace) used(grown float64) float64 {
	if t.Unused <= 0 {
		return grown
	}
	return grown - math.Min(wasted*grown+t.fresh, mostUnused*grown)
}
