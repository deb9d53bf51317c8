package gcmodel

import (
	"fmt"
	"math"
)

// Removal is the collector's cost without one site. Change.Sum() is Cost minus
// the cost before, so a saving is negative.
type Removal struct {
	Target         // of the program without the site
	Cost   float64 // collector cost per time unit that remains
	Off    float64 // error of Cost from the model's extrapolation of the headroom or of the cost of a cycle
	Cycles float64 // cycles per time unit that remain
	Before float64 // cycles per time unit with the site
	Change Change
}

// Change splits a difference of collector cost by cause. The split is that of
// Shapley: each cause's effect averaged over all orders in which the three
// could have come, so it is exact and has no order of its own.
type Change struct {
	Churn    float64 // less is allocated, so cycles are rarer
	Headroom float64 // the heap goal moves with the live heap, so cycles are rarer or more frequent
	MarkWork float64 // a cycle has less to scan
}

// Sum is the whole change.
func (c Change) Sum() float64 { return c.Churn + c.Headroom + c.MarkWork }

// Without computes the collector's cost for the same program if site s did not allocate:
// goal, cycle rate and mark work are recomputed, the setting and the cost of a byte scanned
// stay. A site that exceeds the workload by sampling error leaves zero, not less. The regime
// may change; see Removal.Regime. It fails as Marginals does.
func Without(w Workload, set Setting, s Site) (Removal, error) {
	if err := s.check(); err != nil {
		return Removal{}, err
	}
	c, err := costOf(w, set)
	if err != nil {
		return Removal{}, err
	}
	rest := c.without(w, set, s)
	t, err := Goal(rest, set)
	if err != nil {
		return Removal{}, fmt.Errorf("without the site: %w", err)
	}
	before := factors{w.AllocRate, 1 / c.at.Headroom, c.perCycle(w)}
	after := factors{rest.AllocRate, 1 / t.Headroom, c.perCycle(rest)}
	return Removal{
		Target: t,
		Cost:   after.cost(),
		Off:    after.cost() * costError * before.distance(after),
		Cycles: after.rate * after.perByte,
		Before: before.rate * before.perByte,
		Change: changeOf(before, after),
	}, nil
}

// settling is the number of rounds until live heap and headroom agree. Allocation during
// marking is at most 19/64 of the headroom, so each round removes two thirds of the
// remaining error with GOGC=100.
const settling = 100

// without is the workload without the site. What a program allocates while a cycle marks is
// part of the live heap that sets the next goal. It is proportional to the allocation and to
// the work of marking. But the pacer does not begin before leastTrigger of the headroom is
// used up. A program that marks for all the rest loses headroom twice: by the site's memory,
// and by what it can no longer allocate during marking. Where more was measured than fits
// there, that bound is widened by as much: without any site, nothing changes.
func (c cycleCost) without(w Workload, set Setting, s Site) Workload {
	rest := w
	rest.AllocRate = math.Max(0, w.AllocRate-s.AllocRate)
	rest.HeapScan = math.Max(0, w.HeapScan-s.Scan)
	while := math.Min(w.MarkAlloc, w.Live)
	if while == 0 || w.AllocRate == 0 {
		rest.Live = math.Max(0, w.Live-s.Live)
		return rest
	}
	beyond := 1.0
	if runway := runwayOf(w, set); runway > 0 {
		beyond = math.Max(1, while/runway)
	}
	remains := rest.AllocRate / w.AllocRate
	kept := math.Max(0, w.Live-while-math.Max(0, s.Live-(1-remains)*while))
	while *= remains
	if per := c.perCycle(w); per > 0 {
		while *= c.perCycle(rest) / per
	}
	rest.Live = kept + while
	for range settling {
		rest.Live = kept + math.Min(while, beyond*runwayOf(rest, set))
	}
	return rest
}

// runwayOf is the headroom that is left when marking begins as early as it may.
func runwayOf(w Workload, set Setting) float64 {
	return math.Max(0, (1-leastTrigger)*headroomOf(w, set).bytes(w, set))
}

func (s Site) check() error {
	for _, v := range []float64{s.AllocRate, s.Live, s.Scan} {
		if !(v >= 0 && v <= maxQuantity) {
			return fmt.Errorf("a site's quantity %v is out of range", v)
		}
	}
	return nil
}

// factors are the three whose product is the collector's cost.
type factors struct {
	rate     float64 // bytes per time unit
	perByte  float64 // cycles per byte allocated
	perCycle float64 // cost per cycle
}

func (f factors) cost() float64 { return f.rate * f.perByte * f.perCycle }

// distance is the model's extrapolation in doublings. The rate is counted and not computed.
func (f factors) distance(to factors) float64 {
	sum := 0.0
	for _, d := range []float64{math.Log2(to.perByte / f.perByte), math.Log2(to.perCycle / f.perCycle)} {
		if !math.IsNaN(d) {
			sum += math.Min(math.Abs(d), mostDistance)
		}
	}
	return sum
}

// mostDistance is in doublings: farther away, uncertainty no longer grows.
const mostDistance = 4

func changeOf(a, b factors) Change {
	return Change{
		Churn:    (b.rate - a.rate) * shapley(a.perByte, b.perByte, a.perCycle, b.perCycle),
		Headroom: (b.perByte - a.perByte) * shapley(a.rate, b.rate, a.perCycle, b.perCycle),
		MarkWork: (b.perCycle - a.perCycle) * shapley(a.rate, b.rate, a.perByte, b.perByte),
	}
}

// shapley is the mean, over the orders in which two factors x and y may change
// before a third, of their product at the time the third changes.
func shapley(x0, x1, y0, y1 float64) float64 {
	return (x0*y0+x1*y1)/3 + (x0*y1+x1*y0)/6
}
