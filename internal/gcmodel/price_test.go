package gcmodel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heaptrim/heaptrim/internal/unit"
)

// TestPricesAddUp: whatever the regime, the prices of all that is allocated,
// kept and scanned make the whole cost.
func TestPricesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	regimes := map[Regime]int{}
	for range 400 {
		live := math.Exp(r.Float64()*12) * 4096
		w := Workload{
			AllocRate: 1e6 * r.Float64(), Live: live, HeapScan: live * r.Float64(), Stacks: 1e5 * r.Float64(), Globals: 3e5 * r.Float64(),
			CollectorCost: r.Float64(), FixedShare: r.Float64(),
		}
		s := Setting{GOGC: 25 << r.IntN(6)}
		if r.IntN(3) == 0 {
			s = Setting{GOGC: -1, Limit: unit.Bytes(live*(1.3+3*r.Float64())) + 8*unit.MiB}
		}
		m, err := Prices(w, s)
		if err != nil {
			t.Fatalf("%+v under %+v: %v", w, s, err)
		}
		regimes[m.Regime]++
		sum := w.AllocRate*m.PerAlloc + w.Live*m.PerLive + w.HeapScan*m.PerScan
		if math.Abs(sum-m.Cost) > 1e-6*m.Cost {
			t.Errorf("%v: %+v under %+v: prices add up to %v, cost %v", m.Regime, w, s, sum, m.Cost)
		}
	}
	for _, want := range []Regime{Proportional, MinimumHeap, MemoryLimit} {
		if regimes[want] < 20 {
			t.Errorf("%d workloads in regime %v, want at least 20", regimes[want], want)
		}
	}
}

// TestPricesAreDerivativesUnderGOGC: with a large heap and no fixed cost the
// cost is homogeneous, and an average derivative is the derivative.
func TestPricesAreDerivativesUnderGOGC(t *testing.T) {
	w := Workload{AllocRate: 1e9, Live: 1e9, HeapScan: 5e8, CollectorCost: 0.2}
	m, err := Marginals(w, Setting{GOGC: 100})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prices(w, Setting{GOGC: 100})
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.01*math.Abs(want) {
			t.Errorf("%s: price %v, derivative %v", name, got, want)
		}
	}
	f("allocation", p.PerAlloc, m.PerAlloc)
	f("live bytes", p.PerLive, m.PerLive)
	f("scan work", p.PerScan, m.PerScan)
}
