package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// siteCost is one site of one run with its cost.
type siteCost struct {
	*siteTally
	cost       finding.Cost
	prediction finding.Prediction
	lifetime   finding.Lifetime
}

// runCosts is what one run costs, site by site.
type runCosts struct {
	*runData
	charged   float64        // CPU samples without idle marking and set-up: the whole of every share
	collected stats.Interval // the collector, without assists and idle marking, as a share
	sites     []siteCost
	remainder stats.Interval // collector cost that no site bears
	model     collectorModel
}

// directBuckets are those whose samples carry the site on their stack.
var directBuckets = []stack.Bucket{stack.BucketMalloc, stack.BucketZeroing, stack.BucketGrowCopy, stack.BucketConvert, stack.BucketProfiler, stack.BucketAssist}

// costs charges a run's CPU to its sites.
func costs(d *runData, m collectorModel) *runCosts {
	r := &runCosts{runData: d, model: m}
	var samples float64
	for b, n := range d.buckets {
		if stack.Bucket(b) != stack.BucketMarkIdle {
			r.charged += n
		}
		if stack.BucketInfo[b].Collector {
			samples += n
		}
	}
	for _, t := range d.sites.sorted() {
		r.sites = append(r.sites, siteCost{siteTally: t})
	}
	if r.charged > 0 {
		r.collected = stats.Share(samples, r.charged)
		r.direct()
		r.apportion()
	}
	for i := range r.sites {
		r.quantities(&r.sites[i])
		r.total(&r.sites[i])
		r.sites[i].lifetime = r.lifetimeOf(r.sites[i].siteTally)
		r.sites[i].prediction = r.predict(&r.sites[i])
	}
	return r
}

// direct spreads the samples whose own stack shows the site. Where an
// allocation profile is there, its counts steady the few samples of small
// sites: malloc follows objects and bytes as the samples themselves fit them,
// zeroing and assists follow bytes.
func (r *runCosts) direct() {
	n := len(r.sites)
	objects, bytes, samples := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, s := range r.sites {
		objects[i], bytes[i] = math.Max(s.objects, 0), math.Max(s.bytes, 0)
		samples[i] = s.cpu[stack.BucketMalloc]
	}
	a, b := stats.FitWeights(samples, objects, bytes)
	malloc := make([]float64, n)
	for i := range malloc {
		malloc[i] = a*objects[i] + b*bytes[i]
	}
	weights := map[stack.Bucket][]float64{stack.BucketMalloc: malloc, stack.BucketProfiler: bytes, stack.BucketZeroing: bytes, stack.BucketAssist: bytes, stack.BucketGrowCopy: make([]float64, n), stack.BucketConvert: make([]float64, n)}
	for _, bucket := range directBuckets {
		counts := make([]float64, n)
		for i, s := range r.sites {
			counts[i] = s.cpu[bucket]
		}
		for i, v := range stats.Shrink(counts, weights[bucket]) {
			v = v.Scale(1 / r.charged)
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

// apportion charges the collector's cost to the sites by the derivatives of the
// pacer's formula, averaged so that they add up (gcmodel.Prices): churn by what
// they allocate, retention by what they keep. What the sites leave, because the
// profiles do not hold all that is live, is the remainder.
func (r *runCosts) apportion() {
	total := 0.0
	for _, s := range r.sites {
		total += math.Max(s.bytes, 0)
	}
	if total == 0 {
		r.remainder = r.collected
		return
	}
	left := r.collected.Value
	width := stats.RelativeWidth(r.collected)
	for i := range r.sites {
		s := &r.sites[i]
		share := math.Max(s.bytes, 0) / total
		err := math.Hypot(width, stats.RelativeError(s.events))
		s.cost.Churn = stats.Spread(r.collected.Value*share*r.model.churn(), err)
		left -= s.cost.Churn.Value
		if r.model.known {
			ret := r.model.marginal.Retention(r.model.site(s.siteTally, share)) * r.collected.Value
			s.cost.Retention = stats.Spread(ret, math.Hypot(width, stats.RelativeError(r.inUseEvents(s.siteTally))))
			left -= ret
		}
	}
	r.remainder = stats.Interval{Value: left, Low: left - width*math.Abs(left), High: left + width*math.Abs(left)}
}

// inUseEvents is the number of sampled live objects behind a site's in-use
// figure. Snapshots see the same long-lived objects again, so their number
// adds nothing.
func (r *runData) inUseEvents(t *siteTally) float64 {
	return math.Max(events(t.inUseObjs.mean(), t.inUse.mean(), r.liveRate), 0.5)
}

// quantities fills the columns that count bytes and objects.
func (r *runCosts) quantities(s *siteCost) {
	err := stats.RelativeError(s.events)
	bytes, objects := stats.Spread(s.bytes, err), stats.Spread(s.objects, err)
	s.cost.Bytes, s.cost.Objects = bytes, objects
	if r.allocOps > 0 {
		s.cost.BytesPerOp, s.cost.ObjectsPerOp = bytes.Scale(1/r.allocOps), objects.Scale(1/r.allocOps)
	}
	if sec := r.secondsOfAllocs(); sec > 0 {
		s.cost.BytesPerSecond, s.cost.ObjectsPerSecond = bytes.Scale(1/sec), objects.Scale(1/sec)
	}
	s.cost.InUse = stats.Spread(s.inUse.mean(), stats.RelativeError(r.inUseEvents(s.siteTally)))
	s.cost.InUseObjects = s.inUseObjs.mean()
}

// secondsOfAllocs is how long the program takes, undisturbed, for the work
// behind the allocation columns.
func (r *runData) secondsOfAllocs() float64 {
	if !r.bench {
		// The runtime's own count of the undisturbed run says how fast the
		// program allocates; the profiles say where. A profile of another pass,
		// or one that was cut short, has a speed of its own.
		if rate := r.collector.allocRate(); rate > 0 {
			return r.allBytes() / rate
		}
		return r.allocWindow.Seconds()
	}
	if ns := r.nsPerOp(); ns > 0 {
		return r.allocOps * ns / 1e9
	}
	return 0
}

// nsPerOp is the mean of the timing pass's results; 0 when there are none.
func (r *runData) nsPerOp() float64 {
	var m meanOf
	for _, b := range r.results {
		if b.pass == passTiming {
			m.add(b.nsPerOp)
		}
	}
	return m.mean()
}

// total adds the CPU columns up.
func (r *runCosts) total(s *siteCost) {
	c := &s.cost
	for _, col := range []stats.Interval{c.Malloc, c.Zeroing, c.GrowCopy, c.Assist, c.Churn, c.Retention} {
		c.CPU = c.CPU.Add(col)
	}
	// A site cannot cost more than everything, however few the samples.
	c.CPU.High, c.CPU.Low = math.Min(c.CPU.High, math.Max(c.CPU.Value, 1)), math.Max(c.CPU.Low, math.Min(c.CPU.Value, -1))
}

// predict says what the run would save without the site's allocations.
func (r *runCosts) predict(s *siteCost) finding.Prediction {
	e := r.saving([]siteCut{{s, finding.Cut{Objects: 1, Bytes: 1, Live: 1}}})
	return finding.Prediction{CPU: e.cpu, Cycles: e.cycles, Caches: e.caches, Basis: e.basis, BytesPerOp: s.cost.BytesPerOp, ObjectsPerOp: s.cost.ObjectsPerOp}
}
