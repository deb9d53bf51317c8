package count

import (
	"context"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

// The number of operations of a run is one of a few, by the time that one operation takes: more of
// them make what varies vary less, and what happens once weigh less.
var opsByTime = []struct {
	below float64 // ns
	ops   int64
}{
	{200e3, 1000},
	{2e6, 100},
	{50e6, 10},
	{250e6, 2},
	{math.Inf(1), 1},
}

// memory limits what the operations of a run allocate together: the collector does not run.
const memory = 256 << 20

// MostBytes limits what a run of more operations than Ops allows allocates.
const MostBytes = 4 * memory

// Ops chooses the number of operations of a benchmark's runs from a first result. The number then
// stays in the budget file: means of different numbers of operations are not the same figure.
func Ops(first Result) int64 {
	for _, o := range opsByTime {
		if first.NsPerOp < o.below && float64(o.ops)*first.Bytes <= memory {
			return o.ops
		}
	}
	return 1
}

// How often a figure is counted, in turns on an idle and on a busy machine. One whose operations took
// longer than patience together is counted no more often than has to be.
const (
	fewest   = 4
	most     = 10
	patience = 10 * time.Second
)

// Figures counts benchmarks of one number of operations until it is known how far each varies by
// itself.
func (c *Counter) Figures(ctx context.Context, p Package, names []string, r Run) (map[string]budget.Figure, error) {
	all, took := map[string][]budget.Amount{}, map[string]time.Duration{}
	for round := 0; round < most; round++ {
		rest := names
		if round >= fewest {
			rest = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return steady(all[n]) || took[n] > patience })
		}
		if len(rest) == 0 {
			break
		}
		var idle func()
		if round%2 == 1 {
			idle = load()
		}
		found, err := c.Count(ctx, p, rest, r)
		if idle != nil {
			idle()
		}
		if err != nil {
			return nil, err
		}
		for name, res := range found {
			all[name] = append(all[name], res.Amount)
			took[name] += time.Duration(res.NsPerOp * float64(res.Ops))
		}
	}
	out := map[string]budget.Figure{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := FigureOf(all[name], r.Ops)
		if r.CPU > 1 {
			more, err := c.refill(ctx, p, name, r)
			if err != nil {
				return nil, err
			}
			f = refilled(f, all[name], budget.Amount{Allocs: more.Allocs * float64(r.CPU), Bytes: more.Bytes * float64(r.CPU)})
		}
		out[name] = f
	}
	return out, nil
}

func steady(runs []budget.Amount) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(a budget.Amount) bool { return a != runs[0] })
}

// FigureOf is the median of runs of a number of operations. Its tolerance reaches from there as far
// above the largest as the runs are apart: what comes is like what was seen, but not all of it was
// seen. There is none if the runs differ by no more than any two may.
func FigureOf(runs []budget.Amount, ops int64) budget.Figure {
	f := budget.Figure{Ops: ops}
	e := ExtremesOf(runs)
	f.Allocs = median(runs, func(a budget.Amount) float64 { return a.Allocs })
	f.Bytes = median(runs, func(a budget.Amount) float64 { return a.Bytes })
	if allocs, bytes := (budget.Figure{Amount: e.Least, Ops: ops}).Over(e.Most); allocs || bytes {
		f.Tolerance.Allocs = roundUp(e.Most.Allocs - f.Allocs + e.Most.Allocs - e.Least.Allocs)
		f.Tolerance.Bytes = roundUp(e.Most.Bytes - f.Bytes + e.Most.Bytes - e.Least.Bytes)
	}
	return f
}

// Extremes are the least and the most that runs of a benchmark allocated.
type Extremes struct{ Least, Most budget.Amount }

// With adds a run.
func (e Extremes) With(a budget.Amount) Extremes {
	return Extremes{
		Least: budget.Amount{Allocs: math.Min(e.Least.Allocs, a.Allocs), Bytes: math.Min(e.Least.Bytes, a.Bytes)},
		Most:  budget.Amount{Allocs: math.Max(e.Most.Allocs, a.Allocs), Bytes: math.Max(e.Most.Bytes, a.Bytes)},
	}
}

// ExtremesOf are those of runs, of which there is one at least.
func ExtremesOf(runs []budget.Amount) Extremes {
	e := Extremes{runs[0], runs[0]}
	for _, a := range runs {
		e = e.With(a)
	}
	return e
}

func median(runs []budget.Amount, of func(budget.Amount) float64) float64 {
	values := make([]float64, len(runs))
	for i, r := range runs {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// roundUp keeps two digits of a tolerance.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Max(math.Pow(10, math.Floor(math.Log10(v))-1), 1e-4)
	return math.Ceil(v/unit-1e-9) * unit
}

// load keeps all processors busy until the function that it returns is called. What depends on the
// scheduler varies more then.
func load() func() {
	var stop atomic.Bool
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for !stop.Load() {
			}
		})
	}
	return func() {
		stop.Store(true)
		group.Wait()
	}
}
