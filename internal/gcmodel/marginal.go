package gcmodel

import "errors"

// Site is what one allocation site adds to a Workload, in its units.
type Site struct {
	AllocRate float64 // bytes per time unit
	Live      float64 // bytes alive after a cycle
	Scan      float64 // scan work its live objects cause per cycle; 0 for pointer-free objects
}

// Marginal is the collector's cost taken apart by its derivatives. Summed over
// sites that together make up the workload's AllocRate, Live and HeapScan,
//
//	Σ Churn + Σ Retention + Remainder.Sum() = Cost
//
// holds exactly, in every regime.
type Marginal struct {
	Target
	Cost     float64 // collector cost per time unit
	Cycles   float64 // cycles per time unit
	PerCycle float64 // cost of one cycle

	PerAlloc float64 // ∂Cost/∂AllocRate: per byte per time unit
	PerLive  float64 // ∂Cost/∂Live: per byte; negative if live bytes add headroom
	PerScan  float64 // ∂Cost/∂HeapScan: per byte of scan work

	Remainder Remainder
}

// Retention is the collector cost of s through what it keeps alive: mark work,
// less the headroom that its bytes buy (Proportional), or plus the headroom
// that they take (MinimumHeap, MemoryLimit).
func (m Marginal) Retention(s Site) float64 { return s.Live*m.PerLive + s.Scan*m.PerScan }

// Remainder is the unattributed collector cost. Its parts can be negative: headroom that
// exists without any site is a saving that the sites' own columns do not contain.
type Remainder struct {
	Fixed          float64 // cost of a cycle that does not depend on scan work
	RootMark       float64 // marking from stacks and globals
	RootHeadroom   float64 // stacks and globals raise the goal under GOGC
	Ballast        float64 // the ballast's share of the headroom: it adds some under GOGC and uses some under a limit
	SharedHeadroom float64 // the goal's constant: heapMinimum, minRunway, or what the limit leaves
}

// Marginals differentiates the collector's cost
//
//	C(A, L, W) = A / N(L) × (fixed + k·W),  N = headroom, a linear form of L
//
// at the workload's own point, where C is w.CollectorCost. With W = 0 the mark
// cost cannot belong to any byte scanned, and all of it counts as fixed. It
// fails as Goal does, and if there is a cost but no allocation to explain it.
// At the exact border of two regimes it gives the derivative in the one that
// Goal names.
func Marginals(w Workload, s Setting) (Marginal, error) {
	c, err := costOf(w, s)
	if err != nil {
		return Marginal{}, err
	}
	cost, n, h := w.CollectorCost, c.at.Headroom, c.form
	m := Marginal{
		Target:   c.at,
		Cost:     cost,
		Cycles:   w.AllocRate / n,
		PerCycle: c.perCycle(w),
		PerAlloc: c.perCycle(w) / n,
		PerLive:  -cost * h.live / n,
	}
	// ∂C/∂W = A/N·k, which is the cycle rate times the cost of a byte scanned.
	m.PerScan = m.Cycles * c.perByte
	m.Remainder = Remainder{
		Fixed:    m.Cycles * c.fixed,
		RootMark: m.PerScan * w.roots(),
		// Each term x of N costs x·∂C/∂x = −C·(coefficient·x)/N; over all terms that is −C,
		// which the sum of Churn, +C, cancels.
		RootHeadroom:   -cost * (h.roots * w.roots() / n),
		Ballast:        -cost * (h.ballast * float64(s.Ballast) / n),
		SharedHeadroom: -cost * (h.shared / n),
	}
	return m, nil
}

// cycleCost is the collector's cost as a function, calibrated at one point.
type cycleCost struct {
	at      Target
	form    headroom
	fixed   float64 // per cycle
	perByte float64 // per byte of scan work in a cycle
}

var errCostWithoutAllocation = errors.New("the collector has a cost but the program allocates nothing: the evidence does not belong together")

// costOf calibrates the cost of a cycle so that w costs w.CollectorCost.
func costOf(w Workload, s Setting) (cycleCost, error) {
	t, err := Goal(w, s)
	if err != nil {
		return cycleCost{}, err
	}
	c := cycleCost{at: t, form: headroomOf(w, s)}
	if w.CollectorCost == 0 {
		return c, nil
	}
	if w.AllocRate == 0 {
		return cycleCost{}, errCostWithoutAllocation
	}
	perCycle := w.CollectorCost / w.AllocRate * t.Headroom
	scan := w.scanWork()
	if scan == 0 {
		c.fixed = perCycle
		return c, nil
	}
	c.fixed = perCycle * w.FixedShare
	c.perByte = (perCycle - c.fixed) / scan
	return c, nil
}

// perCycle is what one cycle of w costs.
func (c cycleCost) perCycle(w Workload) float64 { return c.fixed + c.perByte*w.scanWork() }
