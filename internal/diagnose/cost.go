package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/correct"
	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// siteCost is one site of one run with its cost.
type siteCost struct {
	site       *run.Site
	objects    float64 // with those that share blocks
	cost       finding.Cost
	prediction finding.Prediction
	lifetime   finding.Lifetime
}

// runCosts is what one run costs, site by site.
type runCosts struct {
	*run.Data
	counts *correct.Result // weights of its samples
	cpu    charges
	sites  []siteCost
	model  collectorModel
}

// charges is the CPU time of a run, in samples.
type charges struct {
	buckets   [stack.BucketCount]float64
	charged   float64        // without idle marking and set-up: the whole of every share
	collected stats.Interval // the collector, without assists and idle marking, as a share
	remainder stats.Interval // collector cost that is unattributed
}

// directBuckets are those whose samples have the site on their stack.
var directBuckets = []stack.Bucket{
	stack.BucketMalloc, stack.BucketZeroing, stack.BucketGrowCopy, stack.BucketConvert, stack.BucketProfiler,
	stack.BucketAssist,
}

// costs charges a run's CPU to its sites.
func costs(d *run.Data, counts *correct.Result, m collectorModel) *runCosts {
	r := &runCosts{Data: d, counts: counts, model: m}
	r.cpu.buckets = counts.Buckets()
	var samples float64
	for b, n := range r.cpu.buckets {
		if stack.Bucket(b) != stack.BucketMarkIdle {
			r.cpu.charged += n
		}
		if stack.BucketInfo[b].Collector {
			samples += n
		}
	}
	sites := d.Sites.Sorted()
	r.sites = make([]siteCost, 0, len(sites))
	for _, t := range sites {
		r.sites = append(r.sites, siteCost{site: t, objects: counts.Tiny.SiteObjects(t)})
	}
	if r.cpu.charged > 0 {
		r.cpu.collected = stats.Share(samples, r.cpu.charged)
		r.direct()
		r.apportion()
	}
	for i := range r.sites {
		r.quantities(&r.sites[i])
		r.total(&r.sites[i])
		r.sites[i].lifetime = r.lifetimeOf(r.sites[i].site)
		r.sites[i].prediction = r.predict(&r.sites[i])
	}
	return r
}

// direct spreads the samples whose own stack shows the site. An allocation profile
// stabilises the few samples of small sites: malloc is spread by objects and bytes, with
// weights fitted to the samples, zeroing and assists by bytes.
func (r *runCosts) direct() {
	n := len(r.sites)
	objects, bytes, samples := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, s := range r.sites {
		objects[i], bytes[i] = math.Max(s.objects, 0), math.Max(s.site.Bytes, 0)
		samples[i] = s.site.CPU[stack.BucketMalloc] * r.counts.Scale(stack.BucketMalloc)
	}
	a, b := stats.FitWeights(samples, objects, bytes)
	malloc := make([]float64, n)
	for i := range malloc {
		malloc[i] = a*objects[i] + b*bytes[i]
	}
	weights := map[stack.Bucket][]float64{
		stack.BucketMalloc: malloc, stack.BucketProfiler: bytes, stack.BucketZeroing: bytes, stack.BucketAssist: bytes,
		stack.BucketGrowCopy: make([]float64, n), stack.BucketConvert: make([]float64, n),
	}
	for _, bucket := range directBuckets {
		counts := make([]float64, n)
		for i, s := range r.sites {
			counts[i] = s.site.CPU[bucket] * r.counts.Scale(bucket)
		}
		for i, v := range stats.Shrink(counts, weights[bucket]) {
			v = v.Scale(1 / r.cpu.charged)
			c := &r.sites[i].cost
			switch bucket {
			case stack.BucketMalloc, stack.BucketProfiler:
				c.Malloc = c.Malloc.Add(v)
			case stack.BucketZeroing:
				c.Zeroing = v
			case stack.BucketGrowCopy, stack.BucketConvert:
				c.GrowCopy = c.GrowCopy.Add(v)
			case stack.BucketAssist:
				c.Assist = v
			}
		}
	}
}

// apportion charges the collector's cost to the sites by the derivatives of the pacer's
// formula, averaged so that they add up (gcmodel.Prices): churn by what they allocate,
// retention by what they keep alive. The rest, because the profiles do not hold all live
// memory, is the unattributed remainder.
func (r *runCosts) apportion() {
	total := 0.0
	for _, s := range r.sites {
		total += math.Max(s.site.Bytes, 0)
	}
	if total == 0 {
		r.cpu.remainder = r.cpu.collected
		return
	}
	left := r.cpu.collected.Value
	width := stats.RelativeWidth(r.cpu.collected)
	for i := range r.sites {
		s := &r.sites[i]
		share := math.Max(s.site.Bytes, 0) / total
		err := math.Hypot(width, stats.RelativeError(s.site.Events))
		s.cost.Churn = stats.Spread(r.cpu.collected.Value*share*r.model.churn(), err)
		left -= s.cost.Churn.Value
		if r.model.known {
			ret := r.model.marginal.Retention(r.model.site(s.site, share)) * r.cpu.collected.Value
			s.cost.Retention = stats.Spread(ret, math.Hypot(width, stats.RelativeError(r.InUseEvents(s.site))))
			left -= ret
		}
	}
	r.cpu.remainder = stats.Interval{Value: left, Low: left - width*math.Abs(left), High: left + width*math.Abs(left)}
}

// withoutShares takes all shares of CPU back.
func (r *runCosts) withoutShares() {
	r.cpu.charged, r.cpu.collected, r.cpu.remainder = 0, stats.Interval{}, stats.Interval{}
	for i := range r.sites {
		s := &r.sites[i]
		c := &s.cost
		for _, i := range []*stats.Interval{&c.CPU, &c.Malloc, &c.Zeroing, &c.GrowCopy, &c.Assist, &c.Churn, &c.Retention} {
			*i = stats.Interval{}
		}
		s.prediction = r.predict(s)
	}
}

// quantities fills the columns that count bytes and objects.
func (r *runCosts) quantities(s *siteCost) {
	err := stats.RelativeError(s.site.Events)
	bytes, objects := stats.Spread(s.site.Bytes, err), stats.Spread(s.objects, err)
	s.cost.Bytes, s.cost.Objects = bytes, objects
	if ops := r.opsOfAllocs(); ops > 0 {
		s.cost.BytesPerOp, s.cost.ObjectsPerOp = bytes.Scale(1/ops), objects.Scale(1/ops)
	}
	if sec := r.secondsAlone(); sec > 0 {
		s.cost.BytesPerSecond, s.cost.ObjectsPerSecond = bytes.Scale(1/sec), objects.Scale(1/sec)
	}
	scale := r.liveScale()
	s.cost.InUse = stats.Spread(s.site.InUse.Mean()*scale, stats.RelativeError(r.InUseEvents(s.site)))
	if live := r.model.workload.Live; live > 0 {
		s.cost.InUse.High = max(min(s.cost.InUse.High, live), s.cost.InUse.Value)
	}
	s.cost.InUseObjects = s.site.InUseObjs.Mean() * scale
}

// liveScale is the factor by which bytes in use are shown: profiles are samples, and all sites together keep no more than
// the live heap.
func (r *runCosts) liveScale() float64 {
	if r.model.live > 0 {
		return math.Min(r.model.live, 1)
	}
	return 1
}

// opsOfAllocs are the operations behind the allocation columns; 0 when not known. A service's are those of the pass that
// rates are of: at another pace it may allocate more or less for a request, and the profile says where, not how much.
func (r *runCosts) opsOfAllocs() float64 {
	if rate, sec := r.requestRate(), r.SecondsOfAllocs(); r.Heap.Ops > 0 && rate > 0 && sec > 0 {
		return rate * sec
	}
	return r.Heap.Ops
}

// secondsAlone is how long the recorded allocations take without a profile, at the pace of the pass that rates are of.
func (r *runCosts) secondsAlone() float64 {
	if l := r.Collector; r.Bench && l.Window > 0 && l.Ops > 0 && r.Heap.Ops > 0 {
		return r.Heap.Ops * l.Window.Seconds() / float64(l.Ops)
	}
	return r.SecondsOfAllocs()
}

// total adds the CPU columns up.
func (r *runCosts) total(s *siteCost) {
	c := &s.cost
	for _, col := range []stats.Interval{c.Malloc, c.Zeroing, c.GrowCopy, c.Assist, c.Churn, c.Retention} {
		c.CPU = c.CPU.Add(col)
	}
	// A site cannot cost more than the whole, however few the samples.
	c.CPU.High, c.CPU.Low = math.Min(c.CPU.High, math.Max(c.CPU.Value, 1)), math.Max(c.CPU.Low,
		math.Min(c.CPU.Value, -1))
}

// predict says what the run would save without the site's allocations.
func (r *runCosts) predict(s *siteCost) finding.Prediction {
	e := r.saving([]siteCut{{s, finding.Cut{Objects: 1, Bytes: 1, Live: 1}}})
	return finding.Prediction{
		CPU: e.cpu, Cycles: e.cycles, Caches: e.caches, Basis: e.basis, BytesPerOp: s.cost.BytesPerOp,
		ObjectsPerOp: s.cost.ObjectsPerOp,
	}
}
