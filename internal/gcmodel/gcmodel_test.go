package gcmodel_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const mib = float64(unit.MiB)

func TestGoal(t *testing.T) {
	f := func(w gcmodel.Workload, s gcmodel.Setting, want float64, regime gcmodel.Regime) {
		t.Helper()
		got, err := gcmodel.Goal(w, s)
		if err != nil {
			t.Errorf("Goal(%+v, %+v): %v", w, s, err)
			return
		}
		if !near(got.Goal, want*mib, 1e-12) || got.Regime != regime {
			t.Errorf("Goal(%+v, %+v) = %v MiB, %v, want %v, %v", w, s, got.Goal/mib, got.Regime, want, regime)
		}
		if !near(got.Marked+got.Headroom, got.Goal, 1e-12) {
			t.Errorf("Goal(%+v, %+v): %v + %v is not %v", w, s, got.Marked, got.Headroom, got.Goal)
		}
	}
	live := func(m float64) gcmodel.Workload { return gcmodel.Workload{Live: m * mib} }
	roots := gcmodel.Workload{Live: 100 * mib, Stacks: 10 * mib, Globals: 5 * mib}

	f(live(100), gcmodel.Setting{GOGC: 100}, 200, gcmodel.Proportional)
	f(live(100), gcmodel.Setting{GOGC: 50}, 150, gcmodel.Proportional)
	f(roots, gcmodel.Setting{GOGC: 100}, 215, gcmodel.Proportional)
	f(live(100), gcmodel.Setting{GOGC: 100, Ballast: 1 << 30}, 2248, gcmodel.Proportional)
	f(live(0), gcmodel.Setting{GOGC: 100}, 4, gcmodel.MinimumHeap)
	f(live(1), gcmodel.Setting{GOGC: 400}, 16, gcmodel.MinimumHeap)
	f(live(100), gcmodel.Setting{GOGC: 0}, 101+1.0/16, gcmodel.MinimumRunway)
	f(live(1.2), gcmodel.Setting{GOGC: 50}, 2.2+1.0/16, gcmodel.MinimumRunway)
	// The runtime's own figures: 200 MiB less 3 %, and at least 1 MiB less.
	f(live(100), gcmodel.Setting{GOGC: -1, Limit: 200 * unit.MiB}, 194, gcmodel.MemoryLimit)
	f(live(10), gcmodel.Setting{GOGC: -1, Limit: 20 * unit.MiB}, 19, gcmodel.MemoryLimit)
	f(live(100), gcmodel.Setting{GOGC: 100, Limit: 150 * unit.MiB}, 145.5, gcmodel.MemoryLimit)
	f(live(100), gcmodel.Setting{GOGC: 100, Limit: 1000 * unit.MiB}, 200, gcmodel.Proportional)
	f(gcmodel.Workload{Live: 100 * mib, NonHeap: 50 * mib}, gcmodel.Setting{GOGC: -1, Limit: 250 * unit.MiB}, 194, gcmodel.MemoryLimit)
}

func TestGoalErrors(t *testing.T) {
	f := func(w gcmodel.Workload, s gcmodel.Setting, want error) {
		t.Helper()
		_, err := gcmodel.Goal(w, s)
		if err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("Goal(%+v, %+v): got error %v, want %v", w, s, err, want)
		}
		w.AllocRate, w.CollectorCost = 1, 1
		if _, err := gcmodel.Marginals(w, s); err == nil {
			t.Errorf("Marginals(%+v, %+v): no error", w, s)
		}
		if _, err := gcmodel.Without(w, s, gcmodel.Site{}); err == nil {
			t.Errorf("Without(%+v, %+v): no error", w, s)
		}
	}
	def := gcmodel.Setting{GOGC: 100}
	f(gcmodel.Workload{Live: 100 * mib}, gcmodel.Setting{GOGC: -1}, gcmodel.ErrNeverCollects)
	f(gcmodel.Workload{}, gcmodel.Setting{GOGC: -1}, gcmodel.ErrNeverCollects)
	f(gcmodel.Workload{Live: 100 * mib}, gcmodel.Setting{GOGC: -1, Limit: 100 * unit.MiB}, gcmodel.ErrNoHeadroom)
	f(gcmodel.Workload{Live: 100 * mib}, gcmodel.Setting{GOGC: 100, Limit: unit.MiB}, gcmodel.ErrNoHeadroom)
	f(gcmodel.Workload{Live: 60 * mib}, gcmodel.Setting{GOGC: 100, Limit: 150 * unit.MiB, Ballast: 100 * unit.MiB}, gcmodel.ErrNoHeadroom)
	f(gcmodel.Workload{Live: 60 * mib, NonHeap: 200 * mib}, gcmodel.Setting{GOGC: 100, Limit: 150 * unit.MiB}, gcmodel.ErrNoHeadroom)
	f(gcmodel.Workload{Live: -1}, def, nil)
	f(gcmodel.Workload{Live: math.NaN()}, def, nil)
	f(gcmodel.Workload{Live: math.Inf(1)}, def, nil)
	f(gcmodel.Workload{HeapScan: math.Inf(1)}, def, nil)
	f(gcmodel.Workload{FixedShare: 1.5}, def, nil)
	f(gcmodel.Workload{}, gcmodel.Setting{GOGC: 100, Ballast: -1}, nil)
	f(gcmodel.Workload{}, gcmodel.Setting{GOGC: 100, Limit: -1}, nil)
}

func TestEdges(t *testing.T) {
	def := gcmodel.Setting{GOGC: 100}
	f := func(w gcmodel.Workload, s gcmodel.Site) {
		t.Helper()
		m, err := gcmodel.Marginals(w, def)
		if err != nil {
			t.Errorf("Marginals(%+v): %v", w, err)
			return
		}
		r, err := gcmodel.Without(w, def, s)
		if err != nil {
			t.Errorf("Without(%+v, %+v): %v", w, s, err)
			return
		}
		all := []float64{m.Cost, m.Cycles, m.PerCycle, m.PerAlloc, m.PerLive, m.PerScan, whole(m.Remainder),
			churn(m, s), m.Retention(s), r.Cost, r.Cycles, r.Change.Churn, r.Change.Headroom, r.Change.MarkWork}
		for i, v := range all {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%+v, %+v: figure %d is %v", w, s, i, v)
			}
		}
	}
	f(gcmodel.Workload{}, gcmodel.Site{})
	f(gcmodel.Workload{AllocRate: 1e9, CollectorCost: 0.2}, gcmodel.Site{AllocRate: 1e9})
	f(gcmodel.Workload{AllocRate: 1e9, CollectorCost: 0.2, FixedShare: 0.3}, gcmodel.Site{AllocRate: 1e10, Live: 1e12, Scan: 1e12})
	f(gcmodel.Workload{AllocRate: 1e9, Live: 1e8, CollectorCost: 0.2}, gcmodel.Site{Live: 1e8})
	f(gcmodel.Workload{AllocRate: 1e-300, Live: 1e8, CollectorCost: 0.2}, gcmodel.Site{Live: 1e8})
	f(gcmodel.Workload{Live: 1e8, HeapScan: 1e8}, gcmodel.Site{Live: 1e8})

	if _, err := gcmodel.Marginals(gcmodel.Workload{Live: 1e8, CollectorCost: 1}, def); err == nil {
		t.Error("Marginals of a cost without allocation: no error")
	}
	if _, err := gcmodel.Without(gcmodel.Workload{}, def, gcmodel.Site{Live: math.NaN()}); err == nil {
		t.Error("Without a site that is not a number: no error")
	}
	if _, err := gcmodel.Without(gcmodel.Workload{}, def, gcmodel.Site{AllocRate: -1}); err == nil {
		t.Error("Without a negative site: no error")
	}
}

// TestByHand holds the marginals against figures worked out on paper.
func TestByHand(t *testing.T) {
	w := gcmodel.Workload{AllocRate: 1000 * mib, Live: 100 * mib, HeapScan: 80 * mib, CollectorCost: 0.5}
	m := marginals(t, w, gcmodel.Setting{GOGC: 100})
	check(t, "cycles", m.Cycles, 10)
	check(t, "per cycle", m.PerCycle, 0.05)
	check(t, "churn of a tenth", churn(m, gcmodel.Site{AllocRate: 100 * mib}), 0.05)
	// All live bytes pointer-free: only headroom. All scan work: only marking.
	check(t, "retention of all live bytes", m.Retention(gcmodel.Site{Live: 100 * mib}), -0.5)
	check(t, "retention of all scan work", m.Retention(gcmodel.Site{Scan: 80 * mib}), 0.5)
	check(t, "remainder", whole(m.Remainder), 0)

	// 194 MiB goal, 94 MiB headroom: live bytes now cost.
	m = marginals(t, w, gcmodel.Setting{GOGC: -1, Limit: 200 * unit.MiB})
	check(t, "retention under a limit", m.Retention(gcmodel.Site{Live: 94 * mib}), 0.5)
	check(t, "shared headroom under a limit", m.Remainder.SharedHeadroom, -0.5*194/94)
}

// TestSumOfParts: what the sites cost and the remainder add up to the cost.
func TestSumOfParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[gcmodel.Regime]int{}
	for range 4000 {
		w, s := random(r)
		m, err := gcmodel.Marginals(w, s)
		if err != nil {
			continue
		}
		seen[m.Regime]++
		sum, size := whole(m.Remainder), magnitude(m)
		for _, site := range split(r, w, 1+r.IntN(50)) {
			sum += churn(m, site) + m.Retention(site)
		}
		if !(math.Abs(sum-m.Cost) <= 1e-9*size) {
			t.Fatalf("%+v, %+v: parts add up to %v, want %v", w, s, sum, m.Cost)
		}
	}
	needRegimes(t, seen)
}

// TestMarginalsAreDerivatives compares with central differences of the finite
// what-if, which computes goal and cost anew.
func TestMarginalsAreDerivatives(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[gcmodel.Regime]int{}
	for range 4000 {
		w, s := random(r)
		m, err := gcmodel.Marginals(w, s)
		if err != nil || w.CollectorCost == 0 {
			continue
		}
		const eps = 1e-5
		f := func(name string, site gcmodel.Site, want float64) {
			t.Helper()
			half, err := gcmodel.Without(w, s, gcmodel.Site{AllocRate: site.AllocRate / 2, Live: site.Live / 2, Scan: site.Scan / 2})
			if err != nil {
				t.Fatalf("%+v, %+v: %v", w, s, err)
			}
			full, err := gcmodel.Without(w, s, site)
			if err != nil {
				t.Fatalf("%+v, %+v: %v", w, s, err)
			}
			if full.Regime != m.Regime {
				return // the step crossed a border
			}
			// Richardson's extrapolation of the one-sided difference.
			got := 2*2*(w.CollectorCost-half.Cost) - (w.CollectorCost - full.Cost)
			if math.Abs(got-want) > 1e-6*math.Abs(want)+1e-10*w.CollectorCost {
				t.Errorf("%+v, %+v: %s: derivative %v, want %v", w, s, name, want, got)
			}
		}
		// Steps are small against the headroom, which may be far below live.
		step := eps * math.Min(w.Live, m.Headroom)
		a, scan := gcmodel.Site{AllocRate: eps * w.AllocRate}, gcmodel.Site{Scan: eps * w.HeapScan}
		f("rate", a, churn(m, a))
		f("live", gcmodel.Site{Live: step}, step*m.PerLive)
		f("scan", scan, m.Retention(scan))
		seen[m.Regime]++
	}
	needRegimes(t, seen)
}

func TestWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 4000 {
		w, s := random(r)
		site := gcmodel.Site{AllocRate: w.AllocRate * r.Float64(), Live: w.Live * r.Float64(), Scan: w.HeapScan * r.Float64()}
		m, err := gcmodel.Marginals(w, s)
		if err != nil {
			continue
		}
		got, err := gcmodel.Without(w, s, site)
		if err != nil {
			t.Fatalf("Without(%+v, %+v, %+v): %v", w, s, site, err)
		}
		if math.Abs(got.Change.Sum()-(got.Cost-m.Cost)) > 1e-9*(m.Cost+got.Cost) {
			t.Errorf("%+v, %+v, %+v: changes add up to %v, want %v", w, s, site, got.Change.Sum(), got.Cost-m.Cost)
		}
		if got.Change.Churn > 0 || got.Change.MarkWork > 0 {
			t.Errorf("%+v, %+v, %+v: less allocation or less to scan costs more: %+v", w, s, site, got.Change)
		}
		if (m.Regime == gcmodel.MemoryLimit || m.Regime == gcmodel.MinimumHeap) && got.Regime == m.Regime && got.Change.Headroom > 0 {
			t.Errorf("%+v, %+v, %+v: %v: less live heap costs headroom: %+v", w, s, site, m.Regime, got.Change)
		}
		if m.Regime == gcmodel.Proportional && got.Regime == m.Regime && got.Change.Headroom < 0 {
			t.Errorf("%+v, %+v, %+v: less live heap gives headroom under GOGC: %+v", w, s, site, got.Change)
		}
		if short, err := gcmodel.Without(w, s, gcmodel.Site{AllocRate: site.AllocRate}); err != nil || short.Off > 1e-9*short.Cost {
			t.Errorf("%+v, %+v: %v off for less allocation alone, whose effect is counted and not modelled (error %v)", w, s, short.Off, err)
		}
		if moved := got.Change.Headroom != 0 || got.Change.MarkWork != 0; got.Off < 0 || moved != (got.Off > 0) && got.Cost > 1e-9*m.Cost {
			t.Errorf("%+v, %+v, %+v: off by %v of %v, changes %+v", w, s, site, got.Off, got.Cost, got.Change)
		}
		more := site
		more.AllocRate = w.AllocRate
		if all, err := gcmodel.Without(w, s, more); err != nil || all.Cost > got.Cost {
			t.Errorf("%+v, %+v, %+v: cost %v without more churn, want at most %v (error %v)", w, s, site, all.Cost, got.Cost, err)
		}
	}
}

// TestWithoutMarkAlloc: what is allocated while marking counts as alive, so a
// program that marks for as long as the pacer lets it loses headroom twice.
func TestWithoutMarkAlloc(t *testing.T) {
	set := gcmodel.Setting{GOGC: 100}
	w := gcmodel.Workload{AllocRate: 1, Live: 192 << 20, HeapScan: 64 << 20, CollectorCost: 1}
	f := func(while float64, s gcmodel.Site, want float64) {
		t.Helper()
		w.MarkAlloc = while
		got, err := gcmodel.Without(w, set, s)
		if err != nil || math.Abs(got.Marked-want) > 1 {
			t.Errorf("%v allocated while marking, without %+v: %v are marked (error %v), want %v", while, s, got.Marked, err, want)
		}
	}
	kept := gcmodel.Site{Live: 64 << 20}
	f(0, kept, 128<<20)
	f(8<<20, kept, 128<<20)                            // soon marked, then as now
	f(57<<20, kept, (192-57-64)*(1<<20)/(1-19.0/64))   // at once after the earliest trigger
	f(57<<20, gcmodel.Site{}, (192-57)*(1<<20)+57<<20) // nothing is gone
	f(160<<20, gcmodel.Site{}, 192<<20)                // nor where more was measured than fits
	f(160<<20, gcmodel.Site{AllocRate: 0.5}, 112<<20)
	// What a site allocates while marking is in use too, and goes once.
	f(8<<20, gcmodel.Site{AllocRate: 0.5, Live: 4 << 20}, 188<<20)
	f(8<<20, gcmodel.Site{AllocRate: 0.5}, 188<<20)
}

// TestMoreHeadroomCostsLess: a higher GOGC, a higher limit and, under GOGC, a
// larger ballast each lower the cycle rate.
func TestMoreHeadroomCostsLess(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		w, s := random(r)
		base, err := gcmodel.Goal(w, s)
		if err != nil {
			continue
		}
		up := s
		if s.GOGC >= 0 {
			up.GOGC += 1 + r.IntN(200)
		}
		if s.Limit > 0 {
			up.Limit += unit.Bytes(r.IntN(1 << 30))
		}
		got, err := gcmodel.Goal(w, up)
		if err != nil || got.Headroom < base.Headroom {
			t.Errorf("%+v: headroom %v under %+v, want at least %v as under %+v (error %v)", w, got.Headroom, up, base.Headroom, s, err)
		}
	}
}

func TestDoublingGOGCHalvesTheCycles(t *testing.T) {
	w := gcmodel.Workload{AllocRate: 1e9, Live: 3e8, HeapScan: 1e8, Stacks: 1e6, Globals: 1e5, CollectorCost: 0.3}
	a := marginals(t, w, gcmodel.Setting{GOGC: 100})
	b := marginals(t, w, gcmodel.Setting{GOGC: 200})
	check(t, "cycles at 200", b.Cycles, a.Cycles/2)
}

func marginals(t *testing.T, w gcmodel.Workload, s gcmodel.Setting) gcmodel.Marginal {
	t.Helper()
	m, err := gcmodel.Marginals(w, s)
	if err != nil {
		t.Fatalf("Marginals(%+v, %+v): %v", w, s, err)
	}
	return m
}

func check(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*math.Abs(b) }

// magnitude is the largest term of the sum: near the end of its headroom a
// workload has terms far above their sum, and no sum is better than its terms.
func magnitude(m gcmodel.Marginal) float64 {
	return math.Max(m.Cost, math.Max(math.Abs(m.Remainder.SharedHeadroom), math.Abs(m.Remainder.Ballast)))
}

func needRegimes(t *testing.T, seen map[gcmodel.Regime]int) {
	t.Helper()
	for r := gcmodel.Proportional; r <= gcmodel.MinimumRunway; r++ {
		if seen[r] < 50 {
			t.Errorf("regime %v was tried %d times, want 50", r, seen[r])
		}
	}
}

// random draws a workload of any size and a setting that puts it in any regime.
func random(r *rand.Rand) (gcmodel.Workload, gcmodel.Setting) {
	between := func(lo, hi float64) float64 { return lo * math.Pow(hi/lo, r.Float64()) }
	w := gcmodel.Workload{
		AllocRate:     between(1, 1e11),
		Live:          between(1e4, 1e11),
		Stacks:        between(1e3, 1e8),
		Globals:       between(1e3, 1e8),
		NonHeap:       between(1e5, 1e9),
		CollectorCost: between(1e-6, 8),
		FixedShare:    r.Float64() * float64(r.IntN(2)),
	}
	w.HeapScan = w.Live * r.Float64()
	s := gcmodel.Setting{GOGC: r.IntN(400)}
	if r.IntN(4) == 0 {
		s.GOGC = r.IntN(2) // hardly any headroom
	}
	if r.IntN(3) == 0 {
		s.Ballast = unit.Bytes(between(1e6, 1e10))
	}
	if r.IntN(2) == 0 {
		s.Limit = unit.Bytes((w.NonHeap + w.Live + float64(s.Ballast)) * (1.05 + 3*r.Float64()))
		if r.IntN(2) == 0 {
			s.GOGC = -1
		}
	}
	return w, s
}

// split cuts a workload into n sites at random.
func split(r *rand.Rand, w gcmodel.Workload, n int) []gcmodel.Site {
	sites := make([]gcmodel.Site, n)
	share := func(total float64, set func(*gcmodel.Site, float64)) {
		weights, sum := make([]float64, n), 0.0
		for i := range weights {
			weights[i] = r.ExpFloat64()
			sum += weights[i]
		}
		for i := range sites {
			set(&sites[i], total*weights[i]/sum)
		}
	}
	share(w.AllocRate, func(s *gcmodel.Site, v float64) { s.AllocRate = v })
	share(w.Live, func(s *gcmodel.Site, v float64) { s.Live = v })
	share(w.HeapScan, func(s *gcmodel.Site, v float64) { s.Scan = v })
	return sites
}

// churn is the collector cost of a site through its rate of allocation.
func churn(m gcmodel.Marginal, s gcmodel.Site) float64 { return s.AllocRate * m.PerAlloc }

// whole is the sum of a remainder's parts.
func whole(r gcmodel.Remainder) float64 {
	return r.Fixed + r.RootMark + r.RootHeadroom + r.Ballast + r.SharedHeadroom
}
