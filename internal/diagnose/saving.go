package diagnose

import (
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Saving predicts what a set of cuts saves together. The collector's part is
// not a sum over the cuts: it is the cost by the pacer's formula of the program
// with all of them, so that fewer cycles count once. Amounts per operation are
// known only if all findings cost most in the same run; the share of CPU is
// the mean over all runs.
func (s *Session) Saving(cuts []finding.Cut) finding.Prediction {
	var p finding.Prediction
	if len(s.runs) == 0 || len(cuts) == 0 {
		return p
	}
	for _, r := range s.runs {
		var here []siteCut
		for _, c := range cuts {
			if site := s.siteIn(r, c.Finding); site != nil {
				here = append(here, siteCut{site, c})
			}
		}
		e := r.saving(here)
		p.CPU = p.CPU.Add(e.cpu.Scale(1 / float64(len(s.runs))))
		p.Cycles = p.Cycles.Add(e.cycles.Scale(1 / float64(len(s.runs))))
		p.Caches = p.Caches.Add(e.caches.Scale(1 / float64(len(s.runs))))
		if p.Basis == "" || r.Run.Name == cuts[0].Finding.Run {
			p.Basis = e.basis
		}
	}
	if slices.ContainsFunc(cuts, func(c finding.Cut) bool { return c.Finding.Run != cuts[0].Finding.Run }) {
		return p
	}
	for _, c := range cuts {
		p.BytesPerOp = p.BytesPerOp.Add(c.Finding.Cost.BytesPerOp.Scale(c.Bytes))
		p.ObjectsPerOp = p.ObjectsPerOp.Add(c.Finding.Cost.ObjectsPerOp.Scale(c.Objects))
	}
	return p
}

// siteIn finds a finding's site in a run; nil when the run has none.
func (s *Session) siteIn(r *runCosts, f *finding.Finding) *siteCost {
	if f.ID == 0 {
		return nil
	}
	from := s.sites[f.ID-1]
	for i, run := range from.runs {
		if run == r {
			return from.sites[i]
		}
	}
	return nil
}

// siteCut is a cut with the site of one run that it stands for.
type siteCut struct {
	*siteCost
	finding.Cut
}

// effect is what a set of cuts does to one run.
type effect struct {
	cpu    stats.Interval // share of CPU saved
	caches stats.Interval // of it, saved in the program's other code
	cycles stats.Interval // share of the cycles that go away
	// collector is the share of the collector's cost that goes away; negative
	// when there is more to do. 0 when not known.
	collector float64
	basis     string
}

// saving is the share of this run's CPU that the cuts save: their direct cost, the
// collector's cost by the model's what-if, which includes changes of regime, and the cache
// misses that their fresh memory causes in the program's own code. Assists
// are part of the collector there: their number depends on the cycles.
func (r *runCosts) saving(cuts []siteCut) effect {
	e := r.withoutCaches(cuts)
	bytes := 0.0
	for _, c := range cuts {
		bytes += math.Max(c.site.Bytes, 0) * c.Bytes
	}
	fresh, after := r.caches(bytes), r.aftermath().Scale(e.collector)
	if fresh.High > 0 {
		e.basis += "; with cache misses on its fresh memory, as measured on the machine"
	}
	if after != (stats.Interval{}) {
		e.basis += "; with what collections cost the program, by a run at two settings of GOGC"
	}
	e.caches = fresh.Add(after)
	e.cpu = e.cpu.Add(e.caches).Clip(-1, 1)
	return e
}

// withoutCaches is the part of the saving that the profile shows.
func (r *runCosts) withoutCaches(cuts []siteCut) effect {
	var direct, churn stats.Interval
	var gone gcmodel.Site
	width := 0.0
	for _, c := range cuts {
		direct = direct.Add(c.cost.Malloc.Scale(c.Objects)).Add(c.cost.GrowCopy.Scale(c.Bytes))
		direct = direct.Add(c.cost.Zeroing.Scale(c.Bytes * (1 - c.site.Initialised(r.counts.Tiny))))
		direct = direct.Add(r.added(c).Scale(-1))
		part := c.cost.Churn.Add(c.cost.Assist).Scale(c.Bytes)
		churn = churn.Add(part)
		width += math.Max(part.High-part.Low, math.Abs(c.Live)*(c.cost.Retention.High-c.cost.Retention.Low)) / 2
		site := r.model.site(c.site, r.ShareOf(c.site))
		gone.AllocRate += site.AllocRate * c.Bytes
		gone.Live += site.Live * c.Live
		gone.Scan += site.Scan * c.Live
	}
	const noModel = "direct cost and churn; the cost of what it keeps alive is not known"
	if !r.model.known {
		return effect{cpu: direct.Add(churn), basis: noModel}
	}
	gone.AllocRate, gone.Live, gone.Scan = math.Max(gone.AllocRate, 0), math.Max(gone.Live, 0), math.Max(gone.Scan, 0)
	rm, err := gcmodel.Without(r.model.workload, r.model.setting, gone)
	if err != nil {
		return effect{cpu: direct.Add(churn), basis: noModel}
	}
	v := -rm.Change.Sum() * (r.cpu.collected.Value + r.assists())
	width = math.Hypot(width, rm.Off*(r.cpu.collected.Value+r.assists()))
	collector := stats.Interval{Value: v, Low: v - width, High: v + width}
	return effect{
		cpu: direct.Add(collector), cycles: r.fewer(rm, cuts), collector: -rm.Change.Sum(),
		basis: "direct cost, and the collector's cost without it by the pacer's formula, with " + pace(rm.Regime),
	}
}

// fewer is the share of cycles that go away, with the relative error of the byte counts
// behind it.
func (r *runCosts) fewer(rm gcmodel.Removal, cuts []siteCut) stats.Interval {
	if rm.Before <= 0 {
		return stats.Interval{}
	}
	width := 0.0
	for _, c := range cuts {
		width = math.Max(width, stats.RelativeError(c.site.Events))
	}
	v := stats.Spread(1-rm.Cycles/rm.Before, width)
	v.High = math.Min(v.High, math.Max(v.Value, 1))
	return v
}

// added is the share of CPU that the cures themselves spend.
func (r *runCosts) added(c siteCut) stats.Interval {
	sec := r.cpuSecondsOfAllocs()
	if sec <= 0 {
		return stats.Interval{}
	}
	return c.Added.Scale(math.Max(c.objects, 0) * c.Objects / sec)
}

// cpuSecondsOfAllocs is the CPU time, undisturbed, of the work behind the
// allocation columns; 0 when not known.
func (r *runCosts) cpuSecondsOfAllocs() float64 {
	sampled := r.cpu.charged * r.CPU.Period
	if r.CPU.Ops > 0 && r.Heap.Ops > 0 {
		return sampled * r.Heap.Ops / float64(r.CPU.Ops)
	}
	if sec := r.SecondsOfAllocs(); sec > 0 && r.CPU.Wall > 0 {
		return sampled * sec / r.CPU.Wall.Seconds()
	}
	return 0
}

// assists is the share of CPU that mark assists take.
func (r *runCosts) assists() float64 {
	if r.cpu.charged == 0 {
		return 0
	}
	return r.cpu.buckets[stack.BucketAssist] / r.cpu.charged
}

// ByteShare is a finding's share of all bytes allocated, in the run where it
// costs most; 0 when allocations are not known.
func (s *Session) ByteShare(f *finding.Finding) float64 {
	for _, r := range s.runs {
		if site := s.siteIn(r, f); site != nil && r.Run.Name == f.Run {
			return min(r.ShareOf(site.site), f.Cost.Bytes.Value/max(r.AllBytes(), 1)) // a line's parts have one site
		}
	}
	return 0
}
