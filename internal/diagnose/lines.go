package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// lineSet tallies the user's lines of one run, with all that they call.
type lineSet map[stack.Key]*lineTally

type lineTally struct {
	cpu, objects, bytes, own float64

	touching float64 // of cpu, what counts for page faults
}

// maxLines bounds the lines kept for one run; the first ones seen stay.
const maxLines = 1 << 15

func (l lineSet) at(k stack.Key) *lineTally {
	t := l[k]
	if t == nil {
		t = &lineTally{}
		if len(l) < maxLines {
			l[k] = t
		}
	}
	return t
}

// each calls f once for every line of the user's on a stack, leaf first.
func (l lineSet) each(c *stack.Classifier, locs []*evidence.Location, f func(t *lineTally, innermost bool)) {
	var few [16]*lineTally
	seen := few[:0]
	for _, loc := range locs {
		lc := c.Loc(loc)
		for i, fr := range loc.Frames {
			if lc.Frames[i].Owner != stack.OwnerUser {
				continue
			}
			t := l.at(stack.Key{Function: stack.AnyTypes(fr.Function), File: fr.File, Line: fr.Line, By: stack.OwnerUser})
			if !slices.Contains(seen, t) {
				f(t, len(seen) == 0)
				seen = append(seen, t)
			}
		}
	}
}

func (l lineSet) addCPU(c *stack.Classifier, locs []*evidence.Location, n float64, touching bool) {
	l.each(c, locs, func(t *lineTally, _ bool) {
		t.cpu += n
		if touching {
			t.touching += n
		}
	})
}

func (l lineSet) addHeap(c *stack.Classifier, locs []*evidence.Location, objects, bytes float64) {
	l.each(c, locs, func(t *lineTally, innermost bool) {
		t.objects += objects
		t.bytes += bytes
		if innermost {
			t.own += bytes
		}
	})
}

// lineCosts turns the tallies of all runs into costs, heaviest first; what is
// below the floor is left out.
func lineCosts(runs []*runCosts, module stack.Root) []finding.LineCost {
	costs := map[stack.Key]*finding.LineCost{}
	best := map[stack.Key]float64{}
	for _, r := range runs {
		for k, t := range r.lines {
			cpu, weight := r.lineShare(t)
			c := costs[k]
			if c == nil {
				c = &finding.LineCost{Site: module.Site(k)}
				costs[k] = c
			}
			c.CPU = c.CPU.Add(cpu.Scale(1 / float64(len(runs))))
			if weight > best[k] {
				best[k] = weight
				r.lineAmounts(c, t)
			}
		}
	}
	var out []finding.LineCost
	for k, c := range costs {
		if best[k] >= floor {
			out = append(out, *c)
		}
	}
	slices.SortFunc(out, func(a, b finding.LineCost) int {
		return cmp.Or(cmp.Compare(b.CPU.Value, a.CPU.Value), cmp.Compare(b.BytesShare, a.BytesShare),
			cmp.Compare(a.Site.File, b.Site.File), cmp.Compare(a.Site.Line, b.Site.Line), cmp.Compare(a.Site.Function, b.Site.Function))
	})
	return out
}

// lineShare is a line's share of the run's CPU, and what it is weighed by.
func (r *runCosts) lineShare(t *lineTally) (stats.Interval, float64) {
	bytes := 0.0
	if all := r.allBytes(); all > 0 {
		bytes = math.Max(t.bytes, 0) / all
	}
	if r.charged == 0 {
		return stats.Interval{}, bytes
	}
	cpu := stats.Share(math.Min(t.cpu, r.charged), r.charged).Add(r.collected.Scale(bytes))
	return cpu, cpu.Value
}

func (r *runCosts) lineAmounts(c *finding.LineCost, t *lineTally) {
	c.Run = r.run.Name
	c.BytesPerOp, c.ObjectsPerOp, c.BytesShare, c.OwnBytes = 0, 0, 0, 0
	if r.allocOps > 0 {
		c.BytesPerOp, c.ObjectsPerOp = t.bytes/r.allocOps, t.objects/r.allocOps
	}
	if all := r.allBytes(); all > 0 {
		c.BytesShare = t.bytes / all
	}
	if t.bytes > 0 {
		c.OwnBytes = t.own / t.bytes
	}
}
