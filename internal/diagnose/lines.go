package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// lineCosts turns the tallies of all runs into costs, heaviest first; lines below the floor
// are dropped.
func lineCosts(runs []*runCosts, module stack.Root) []finding.LineCost {
	type cost struct {
		finding.LineCost
		best float64 // weight, of all runs
	}
	costs, kept := map[stack.Key]*cost{}, 0
	for _, r := range runs {
		for k, t := range r.Lines {
			cpu, weight := r.lineShare(t)
			c := costs[k]
			if c == nil {
				c = &cost{LineCost: finding.LineCost{Site: module.Site(k)}}
				costs[k] = c
			}
			c.CPU = c.CPU.Add(cpu.Scale(1 / float64(len(runs))))
			if weight <= c.best {
				continue
			}
			if c.best < floor && weight >= floor {
				kept++
			}
			c.best = weight
			r.lineAmounts(&c.LineCost, t)
		}
	}
	out := slices.Grow([]finding.LineCost(nil), kept) // there are many
	for _, c := range costs {
		if c.best >= floor {
			out = append(out, c.LineCost)
		}
	}
	slices.SortFunc(out, func(a, b finding.LineCost) int {
		return cmp.Or(cmp.Compare(b.CPU.Value, a.CPU.Value), cmp.Compare(b.BytesShare, a.BytesShare),
			cmp.Compare(a.Site.File, b.Site.File), cmp.Compare(a.Site.Line, b.Site.Line), cmp.Compare(
				a.Site.Function, b.Site.Function,
			))
	})
	return out
}

// lineShare is a line's share of the run's CPU, and its weight.
func (r *runCosts) lineShare(t *run.Line) (stats.Interval, float64) {
	bytes := 0.0
	if all := r.AllBytes(); all > 0 {
		bytes = math.Max(t.Bytes, 0) / all
	}
	if r.cpu.charged == 0 {
		return stats.Interval{}, bytes
	}
	cpu := stats.Share(math.Min(r.counts.Line(t), r.cpu.charged), r.cpu.charged).Add(r.cpu.collected.Scale(bytes)).Clip(0, 1)
	return cpu, cpu.Value
}

func (r *runCosts) lineAmounts(c *finding.LineCost, t *run.Line) {
	c.Run = r.Run.Name
	c.BytesPerOp, c.ObjectsPerOp, c.BytesShare, c.OwnBytes = 0, 0, 0, 0
	if ops := r.opsOfAllocs(); ops > 0 {
		c.BytesPerOp, c.ObjectsPerOp = t.Bytes/ops, t.Objects/ops
	}
	if all := r.AllBytes(); all > 0 {
		c.BytesShare = t.Bytes / all
	}
	if t.Bytes > 0 {
		c.OwnBytes = t.Own / t.Bytes
	}
}
