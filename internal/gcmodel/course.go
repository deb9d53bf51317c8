package gcmodel

import (
	"math"
	"slices"
)

// Bytes that the pacer counts as allocated but that hold no object. When a processor takes a
// span to allocate from, all its free slots count, with the unusable end and the runtime's
// bits. A cycle takes nearly all spans of the heap once, so this amount is proportional to
// the heap's size at the end of the cycle (2 to 5 %, depending on object sizes), not to what
// the cycle adds. Processors hold about half a MiB more, in tiny heaps too.
const (
	heldSlots  = 512 << 10
	mostUnused = 0.3 // of what a cycle adds, in any case
)

// course is the trace as walks follow it, with the bytes allocated recounted: the unused
// part of what a cycle adds to the heap is proportional to the heap.
func (t *Trace) course() *Trace {
	c := *t
	c.once = t.Whole || t.Drifts()
	c.fit.eager, c.fit.freer = 1, 1
	c.Points = slices.Clone(t.Points)
	c.recount(t)
	c.demands(t)
	c.shareCosts(t)
	c.fit.swing = swingOf(c.Points)
	c.fit.late = t.lateness()
	c.fit.lives = c.survival()
	return &c
}

// freely is the mean of what is allocated during a cycle without assists, weighted by bytes
// allocated.
func (c *Trace) freely() float64 {
	sum, all := 0.0, 0.0
	for i := 1; i < len(c.Points); i++ {
		far := math.Max(0, c.Points[i].At-c.Points[i-1].At)
		sum, all = sum+far*c.Points[i].natural(), all+far
	}
	if all <= 0 {
		return 0
	}
	return sum / all
}

// unhinder multiplies by k the allocation during cycles that assists held back, had there
// been no assists. The recording does not show that amount: background workers without a
// processor of their own wait for a time slice, so a mark phase without assists lasts longer
// than its work.
func (c *Trace) unhinder(k float64) {
	for i := range c.Points {
		p := &c.Points[i]
		p.hindered = math.Min(heldBack(k*p.natural(), p.Beside), mostHindered)
	}
	c.fit.freer = k
}

// survival is the overall share of allocated bytes that stays alive: by it the live heap
// grows from nothing to its largest size.
func (c *Trace) survival() float64 {
	if !c.Whole {
		return 0
	}
	most := c.Points[0]
	for _, p := range c.Points {
		if p.Live > most.Live {
			most = p
		}
	}
	return math.Min(most.Live/math.Max(most.At, 1), 1-c.Dies)
}

// lateness is the mean distance by which the recorded cycles began after the trigger of the
// pacer's formula. The median error of the formula is a hundredth of a MiB; programs that
// allocate in large pieces overshoot the trigger.
func (t *Trace) lateness() float64 {
	c := t.pacer(t.Setting)
	sum, n := 0.0, 0.0
	for i, p := range t.Points {
		if _, trigger, _ := c.aim(t.Setting); i > 0 && !math.IsInf(trigger, 0) {
			sum += p.End - p.Beside - trigger
			n++
		}
		c.marked = t.marked(p) + float64(t.Setting.Ballast)
		c.next(p)
	}
	if n == 0 || t.Unused <= 0 {
		return 0
	}
	return math.Max(0, sum/n)
}

// demands fills in the assist work that the recorded cycles demanded.
func (c *Trace) demands(t *Trace) {
	q := t.pacer(t.Setting)
	for i, p := range t.Points {
		if goal, _, _ := q.aim(t.Setting); i > 0 && !math.IsInf(goal, 0) {
			trigger := p.End - p.Beside
			c.Points[i].demand = demand(p.Beside, q.most(t.Setting, p, goal, trigger)/overshoot-trigger)
		}
		c.Points[i].hindered = math.Min(heldBack(p.Natural, p.Beside), mostHindered)
		q.marked = t.marked(p) + float64(t.Setting.Ballast)
		q.next(p)
	}
	c.Points[0].demand = c.Points[1].demand
}

// shareCosts gives each cycle the mean cost of its neighbours, scaled to the bytes that it
// marks. The cost of a single cycle varies by chance; a walk that sees five cycles must not
// depend on which five.
func (c *Trace) shareCosts(t *Trace) {
	own := slices.Clone(c.Points)
	shared, all := 0.0, 0.0
	for i := range c.Points {
		var sum Point
		bytes, n := 0.0, 0.0
		for k := max(0, i-costCycles); k < min(len(own), i+costCycles+1); k++ {
			p, marked := t.Points[k], t.marked(t.Points[k])+leastMarked
			sum.Background += p.Background
			sum.Assist += p.Assist
			sum.Idle += p.Idle
			sum.Pause += p.Pause
			sum.demand += own[k].demand * marked
			sum.hindered += own[k].hindered * marked
			bytes += marked
			n++
		}
		p := &c.Points[i]
		k := (t.marked(t.Points[i]) + leastMarked) / bytes
		p.Background, p.Assist, p.Idle, p.Pause = sum.Background*k, sum.Assist*k, sum.Idle*k, sum.Pause/n
		p.demand, p.hindered = sum.demand/bytes, sum.hindered/bytes
		shared, all = shared+p.total(), all+t.Points[i].total()
	}
	if shared <= 0 {
		return
	}
	// At either end there are fewer neighbours: the sum stays what it was.
	for i := range c.Points {
		c.Points[i].scaleCost(all / shared)
	}
}

const (
	mostHindered = 0.9     // largest share of a program's allocation during a cycle that assists are assumed to prevent
	costCycles   = 5       // neighbours on either side in the mean of a cycle's cost
	leastMarked  = 1 << 20 // bytes: a cycle without a heap costs about as much as marking these
)

// recount places the points of t by the bytes allocated as used counts them.
func (c *Trace) recount(t *Trace) {
	if t.Unused <= 0 {
		return
	}
	grown := make([]float64, len(t.Points))
	ends := 0.0
	for i, p := range t.Points {
		before := Point{}
		if i > 0 {
			before = t.Points[i-1]
		}
		if i > 0 || t.Whole {
			grown[i] = math.Max(0, p.End-before.Live-t.Dies*before.Beside)
			if far := p.At - before.At; far > 0 {
				// A forced cycle between the two has its own part in At.
				grown[i] = math.Max(grown[i], far+t.Unused)
			}
		}
		ends += math.Max(1, p.End-float64(t.Setting.Ballast))
	}
	c.fit.held = math.Min(heldSlots, t.Unused/2)
	c.fit.ends = (t.Unused - c.fit.held) * float64(len(t.Points)) / ends
	at := 0.0
	if !t.Whole {
		at = t.Points[0].At
	}
	for i := range c.Points {
		at += c.used(grown[i], c.Points[i].End-float64(t.Setting.Ballast))
		c.Points[i].At = at
	}
	if t.Whole {
		c.Bytes = at + math.Max(0, t.Bytes-t.Points[len(t.Points)-1].At)
	}
}

// used is the number of bytes allocated while the heap grows by a given amount to a given
// end.
func (t *Trace) used(grown, end float64) float64 {
	if t.Unused <= 0 {
		return grown
	}
	return grown - math.Min(t.fit.held+t.fit.ends*math.Max(end, 0), mostUnused*grown)
}
