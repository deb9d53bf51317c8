package gcmodel

import "math"

// Prices charges the collector's cost to allocation, live bytes and scan work so that all
// charges add up to the cost: the derivatives of Marginals, averaged over the program's
// growth from nothing to its own point,
//
//	price = ∫₀¹ ∂C(t·A, t·L, t·W) dt
//
// with stacks, globals and the setting as they are. This is the pricing of
// Aumann and Shapley ("Values of Non-Atomic Games", 1974; Billera and Heath,
// "Allocation of Shared Costs", 1982): the only one that adds up to the cost for
// every cost function and does not depend on how sites are grouped.
//
// Where the cost is homogeneous, as under GOGC with a large live heap, prices and
// derivatives are the same. If sites share one headroom, at the minimum heap or below a
// memory limit, each site's derivative includes the headroom that it takes from all others.
// The derivatives of all sites together then exceed the cost; the prices do not.
//
// The Marginal that Prices returns differs from that of Marginals in PerAlloc,
// PerLive, PerScan and Remainder, which is zero but for the error of the
// integration, below 10⁻⁶ of the cost. It fails as Marginals does.
func Prices(w Workload, s Setting) (Marginal, error) {
	m, err := Marginals(w, s)
	if err != nil {
		return Marginal{}, err
	}
	c, err := costOf(w, s)
	if err != nil {
		return Marginal{}, err
	}
	var sum slopes
	for from, to := 0.0, smallest; from < 1; from, to = to, math.Min(to*growth, 1) {
		border := regimeBorder(w, s, from, to)
		sum = sum.plus(c.average(w, s, growthSpan{from, border})).plus(c.average(w, s, growthSpan{border, to}))
	}
	m.PerAlloc, m.PerLive, m.PerScan = sum.alloc, sum.live, sum.scan
	borne := w.AllocRate*m.PerAlloc + w.Live*m.PerLive + w.HeapScan*m.PerScan
	m.Remainder = Remainder{SharedHeadroom: m.Cost - borne}
	return m, nil
}

// A program grows through all orders of magnitude, so the length of an integration panel is
// its distance from the start.
const (
	smallest = 1e-12
	growth   = 1.05
)

// growthSpan is a part of the growth, between 0 and 1.
type growthSpan struct{ from, to float64 }

// gauss is the three-point Gauss-Legendre rule on 0 to 1.
var gauss = [...]struct{ at, weight float64 }{
	{0.5 - 0.3872983346207417, 5.0 / 18},
	{0.5, 8.0 / 18},
	{0.5 + 0.3872983346207417, 5.0 / 18},
}

// grown is the workload at a part of its size; the roots have their full size from the
// start.
func (w Workload) grown(t float64) Workload {
	w.AllocRate *= t
	w.Live *= t
	w.HeapScan *= t
	return w
}

// slopes are derivatives of the cost.
type slopes struct{ alloc, live, scan float64 }

func (a slopes) plus(b slopes) slopes {
	return slopes{a.alloc + b.alloc, a.live + b.live, a.scan + b.scan}
}

// slopes gives the derivatives at w with the cycle cost of c.
func (c cycleCost) slopes(w Workload, s Setting) slopes {
	h := headroomOf(w, s)
	n := h.bytes(w, s)
	per := c.perCycle(w)
	cycles := w.AllocRate / n
	return slopes{per / n, -cycles * per * h.live / n, cycles * c.perByte}
}

// average integrates the derivatives over a span that lies in one regime.
func (c cycleCost) average(w Workload, s Setting, span growthSpan) slopes {
	var sum slopes
	length := span.to - span.from
	for _, g := range gauss {
		d := c.slopes(w.grown(span.from+g.at*length), s)
		k := g.weight * length
		sum = sum.plus(slopes{d.alloc * k, d.live * k, d.scan * k})
	}
	return sum
}

// regimeBorder finds where the regime changes between two points of the
// growth, a kink of the path, or returns the second where it does not. Panels
// are short enough to hold one change.
func regimeBorder(w Workload, s Setting, from, to float64) float64 {
	first := headroomOf(w.grown(from), s).regime
	if headroomOf(w.grown(to), s).regime == first {
		return to
	}
	for range 60 {
		mid := (from + to) / 2
		if headroomOf(w.grown(mid), s).regime == first {
			from = mid
		} else {
			to = mid
		}
	}
	return to
}
