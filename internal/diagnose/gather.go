package diagnose

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/diagnose/alloc"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
	"github.com/heaptrim/heaptrim/internal/kernel"
)

// runData is one run of a recording, read: the profiles boiled down to sites,
// the logs to cycles.
type runData struct {
	run   evidence.Run
	bench bool // a benchmark: figures are per operation, and set-up is known

	sites    *siteSet
	lines    lineSet
	buckets  [stack.BucketCount]float64 // CPU samples
	setUpCPU float64                    // CPU samples of set-up and harness, in no bucket
	// Of setUpCPU, those that run for moments, as those of burstBuckets do.
	setUpBursts float64
	sampled     float64       // all CPU samples
	profiled    time.Duration // process CPU while they were taken
	unprofiled  bool          // some CPU profile does not tell that
	sleeps      float64       // of threads, meanwhile
	cyclesSeen  float64       // collections meanwhile; 0 when not known
	seen, alone processUse    // meanwhile, and of the same work without a profile
	pace        float64       // what the collector costs the program by itself for each unit meanwhile; 1 when not known
	paced       bool          // pace is known
	touched     float64       // what a sample of code that meets fresh pages counts for; 1 when not known
	forCycles   float64       // share of the scheduler's CPU that collections cause
	period      float64       // seconds of CPU a sample stands for
	hasCPU      bool
	hasAllocs   bool
	hasInUse    bool
	raw         bool // stacks keep the runtime's frames

	unread map[string]bool // paths of parts with an error, nil for none; the warnings tell it

	allocOps    float64       // operations behind the allocation columns
	allocWindow time.Duration // window behind the allocation columns; 0: since the process started
	setUpBytes  float64       // allocated in set-up, in no site
	ops         int64         // operations of the timing pass
	wall        time.Duration // window of the timing pass
	cpu         time.Duration // process CPU of the timing pass
	snapshots   int
	liveRate    float64 // bytes a sample of the in-use columns

	collector collectorLog
	results   []benchResult
	signs     stack.Signs
	kernel    *kernel.Work // nil without a recording of perf
}

type benchResult struct {
	pass                         string
	name                         string
	nsPerOp, bytesPerOp, allocOp float64
	n                            int64
}

// reader reads the runs of a bundle.
type reader struct {
	b     *bundle.Bundle
	table *stack.Table
	own   *stack.Ownership
	kind  alloc.Kinder
	warn  func(format string, args ...any)
}

// run reads every part of one run. A part that cannot be read is a warning:
// the others still answer what they can.
func (r *reader) run(run evidence.Run) *runData {
	d := &runData{run: run, sites: newSiteSet(r.kind), lines: lineSet{}, bench: len(run.Loops) > 0 || r.b.Manifest.Target.Kind == evidence.TargetPackages}
	for _, p := range run.Parts {
		r.damaged(d, p, r.log(d, p))
	}
	if seen, ok := d.setPace(); !ok {
		r.warn("%s: the profiled process collected %.3g times as much as the same work without a profile: that is not believed, so the collector's samples count as they are", run.Name, seen)
	}
	for _, p := range run.Parts {
		var err error
		switch p.Kind {
		case evidence.KindCPU:
			err = r.cpu(d, p)
		case evidence.KindPerf:
			err = r.perf(d, p)
		}
		r.damaged(d, p, err)
	}
	for _, h := range heapUses(run, d.bench) {
		r.damaged(d, h.part, r.heap(d, h))
	}
	d.leaveOutSetUp()
	d.chargeFaults()
	d.chargeScheduler(r.b.Manifest.Environment.GOMAXPROCS)
	d.chargeUnsampled(r.b.Manifest.Environment.GOMAXPROCS)
	d.countTiny()
	return d
}

// damaged notes that a part could not be read, or not to its end; nil is no
// damage.
func (r *reader) damaged(d *runData, part evidence.Part, err error) {
	if err == nil {
		return
	}
	r.warn("%v", err)
	if d.unread == nil {
		d.unread = map[string]bool{}
	}
	d.unread[part.Path] = true
}

// profiles calls cpu and heap with the profiles of a run, in the order of the
// first reading. An error that reading a part gave then, and the warnings tell,
// is passed over: what stands before the damage was counted then, too.
func (d *runData) profiles(cpu func(evidence.Part) error, heap func(heapUse) error) error {
	for _, p := range d.run.Parts {
		if !cpuPart(d.run, p) {
			continue
		}
		if err := cpu(p); err != nil && !d.unread[p.Path] {
			return err
		}
	}
	for _, h := range heapUses(d.run, d.bench) {
		if err := heap(h); err != nil && !d.unread[h.part.Path] {
			return err
		}
	}
	return nil
}

// backgroundBuckets are the collector's work on its own goroutines, whose
// stacks cannot show whether a benchmark's set-up or its measured run caused
// it.
var backgroundBuckets = []stack.Bucket{stack.BucketMarkDedicated, stack.BucketMarkFractional, stack.BucketMarkOther, stack.BucketMarkIdle, stack.BucketCycle}

// leaveOutSetUp takes out of a benchmark's CPU what the collector did for its
// set-up and when package testing forced it to, in the proportion that the log
// of the same work shows.
func (d *runData) leaveOutSetUp() {
	part := d.collector.part()
	for _, b := range backgroundBuckets {
		d.setUpCPU += d.buckets[b] * (1 - part)
		d.setUpBursts += d.buckets[b] * (1 - part)
		d.buckets[b] *= part
	}
}

// cpu adds a CPU profile.
func (r *reader) cpu(d *runData, part evidence.Part) error {
	p, err := r.openCPU(part)
	if err != nil {
		return err
	}
	return r.addProfile(d, part, p)
}

// addProfile adds the CPU samples of a part that has been opened.
func (r *reader) addProfile(d *runData, part evidence.Part, p *evidence.Profile) error {
	col := p.Column("cpu")
	if col < 0 {
		return fmt.Errorf("%s: a CPU profile without a cpu column", part.Path)
	}
	period := 1e7 // of the default 100 Hz
	if p.Period > 0 {
		period = float64(p.Period)
	}
	d.hasCPU, d.period = true, period/1e9
	if part.Ops > 0 {
		d.ops += part.Ops
	}
	window := part.Wall
	if !d.bench && p.Duration > 0 {
		window = p.Duration
	}
	d.wall += window
	d.cpu += part.CPU
	if most := processorTime(window, r.b.Manifest.Environment.NumCPU); part.Profiled > most {
		r.warn("%s: profiled_cpu_ns says %v of processor time, more than the machine had (%v): what is in no sample is not told", part.Path, part.Profiled, most)
		part.Profiled = 0
	}
	d.profiled += part.Profiled
	d.sleeps += float64(part.Sleeps)
	d.unprofiled = d.unprofiled || part.Profiled == 0
	c := stack.NewClassifier(p, r.table, r.own, d.run.Loops)
	return p.Samples.Scan(func(s evidence.Sample) error {
		d.sampled += float64(s.Values[col]) / period
		d.addCPU(c, s.Stack, float64(s.Values[col])/period)
		return nil
	})
}

// addCPU books one CPU stack of n samples.
func (d *runData) addCPU(c *stack.Classifier, locs []*evidence.Location, n float64) {
	if n <= 0 {
		return
	}
	if c.SetUp(locs) {
		d.setUpCPU += n
		return
	}
	b := c.Bucket(locs)
	n *= d.paceOf(b)
	d.buckets[b] += n
	d.signs.Add(c, locs, n)
	d.lines.addCPU(c, locs, n, slices.Contains(touching, b))
	switch b {
	case stack.BucketMalloc, stack.BucketZeroing, stack.BucketGrowCopy, stack.BucketConvert, stack.BucketProfiler, stack.BucketAssist:
	default:
		return
	}
	t, p := d.sites.at(c, locs)
	t.cpu[b] += n
	if k := d.sites.kind.Of(p); k != finding.KindUnknown {
		// Allocation profiles outvote samples wherever they name a kind.
		t.kinds[k] += n * 1e-6
	}
	t.pointers[alloc.PointersIn(p.Above)] += n
	t.addStack(locs, n*1e-6)
}

// heapUse is one heap profile of a run and what it contributes.
type heapUse struct {
	part evidence.Part
	use
}

// heapUses decides which column of which heap profile of a run counts: that
// depends on the others. The allocation columns are those of the pass with the
// finest sampling: another pass of the same work adds nothing but noise. The
// in-use columns are those of the finest pass that took snapshots meanwhile.
func heapUses(run evidence.Run, bench bool) []heapUse {
	passes := map[string][]evidence.Part{}
	for _, p := range run.Parts {
		if p.Kind == evidence.KindAllocs || p.Kind == evidence.KindHeap {
			passes[p.Pass] = append(passes[p.Pass], p)
		}
	}
	allocs := finest(passes, func(parts []evidence.Part) bool {
		return slices.ContainsFunc(indices(parts), func(i int) bool { return allocSign(parts, i, bench) != 0 })
	})
	inUse := finest(passes, func(parts []evidence.Part) bool { return slices.Contains(snapshotsOf(parts, bench), true) })
	var out []heapUse
	for _, pass := range slices.Compact([]string{allocs, inUse}) {
		parts := passes[pass]
		live := snapshotsOf(parts, bench)
		for i, p := range parts {
			var u use
			if pass == allocs {
				u.alloc = allocSign(parts, i, bench)
			}
			if pass == inUse && live[i] {
				u.inUse = true
				u.first = !slices.Contains(live[:i], true)
				u.last = !slices.Contains(live[i+1:], true)
			}
			if u.alloc != 0 || u.inUse {
				out = append(out, heapUse{p, u})
			}
		}
	}
	return out
}

func indices(parts []evidence.Part) []int {
	out := make([]int, len(parts))
	for i := range out {
		out[i] = i
	}
	return out
}

// finest returns the pass with the finest sampling among those that qualify,
// or "".
func finest(passes map[string][]evidence.Part, qualifies func([]evidence.Part) bool) string {
	best := ""
	for pass, parts := range passes {
		if !qualifies(parts) {
			continue
		}
		if best == "" || finer(parts[0], passes[best][0]) || !finer(passes[best][0], parts[0]) && pass < best {
			best = pass
		}
	}
	return best
}

func finer(a, b evidence.Part) bool {
	rate := func(p evidence.Part) int64 {
		if p.Rate == 0 {
			return 512 << 10
		}
		return p.Rate
	}
	return rate(a) < rate(b)
}

// use says what one snapshot contributes.
type use struct {
	alloc       float64 // +1, -1 for the baseline of a window, 0 for nothing
	inUse       bool
	first, last bool
}

// allocSign decides how the allocation columns of the i-th snapshot count:
// deltas and a benchmark's last profile as they are, and of cumulative ones
// the last less the first.
func allocSign(parts []evidence.Part, i int, bench bool) float64 {
	if parts[i].Delta {
		return 1
	}
	if bench {
		if parts[i].Kind == evidence.KindAllocs {
			return 1
		}
		return 0
	}
	first, last := -1, -1
	for j, p := range parts {
		if !p.Delta {
			if first < 0 {
				first = j
			}
			last = j
		}
	}
	switch {
	case i == last:
		return 1
	case i == first:
		return -1
	}
	return 0
}

// snapshotsOf marks the snapshots whose in-use columns show the program at
// work: all of a service's, and a benchmark's later ones, since the first may
// fall into its set-up and the last comes after its end.
func snapshotsOf(parts []evidence.Part, bench bool) []bool {
	live := make([]bool, len(parts))
	n := 0
	for i, p := range parts {
		live[i] = !p.Delta && (!bench || p.Kind == evidence.KindHeap)
		if live[i] {
			n++
		}
	}
	if bench {
		for i, skip := 0, n/2; i < len(live) && skip > 0; i++ {
			if live[i] {
				live[i] = false
				skip--
			}
		}
	}
	return live
}

// openHeap opens a heap profile.
func (r *reader) openHeap(part evidence.Part) (*evidence.Profile, heapColumns, error) {
	p, err := pprof.Open(r.b.Path(part))
	if err != nil {
		return nil, heapColumns{}, err
	}
	cols := heapColumns{p.Column("alloc_objects"), p.Column("alloc_space"), p.Column("inuse_objects"), p.Column("inuse_space")}
	if cols.allocBytes < 0 && cols.inUseBytes < 0 {
		return nil, cols, fmt.Errorf("%s: a heap profile without alloc_space and inuse_space", part.Path)
	}
	return p, cols, nil
}

// heap reads one heap profile.
func (r *reader) heap(d *runData, h heapUse) error {
	p, cols, err := r.openHeap(h.part)
	if err != nil {
		return err
	}
	part, u := h.part, h.use
	if cols.allocBytes < 0 {
		u.alloc = 0
	}
	if u.alloc > 0 {
		d.hasAllocs = true
		d.raw = d.raw || part.Raw
		d.allocOps += float64(part.Ops)
		d.allocWindow += part.Wall
	}
	if u.inUse && cols.inUseBytes >= 0 {
		d.hasInUse = true
		d.snapshots++
	} else {
		u.inUse = false
	}
	rate := float64(p.Period)
	if part.Rate > 0 {
		rate = float64(part.Rate)
	}
	if u.inUse {
		d.liveRate = rate
	}
	c := stack.NewClassifier(p, r.table, r.own, d.run.Loops)
	seen := map[*siteTally]*[2]float64{}
	err = p.Samples.Scan(func(s evidence.Sample) error {
		if c.Tool(s.Stack) {
			return nil
		}
		d.addHeap(heapSample{c, s, cols, u, rate, part.Raw}, seen)
		return nil
	})
	if u.inUse {
		d.closeSnapshot(seen, u)
	}
	return err
}

type heapColumns struct{ allocObjects, allocBytes, inUseObjects, inUseBytes int }

type heapSample struct {
	c    *stack.Classifier
	s    evidence.Sample
	cols heapColumns
	use  use
	rate float64
	raw  bool
}

// addHeap books one heap stack.
func (d *runData) addHeap(h heapSample, seen map[*siteTally]*[2]float64) {
	setUp := h.c.SetUp(h.s.Stack)
	value := func(col int) float64 {
		if col < 0 {
			return 0
		}
		return float64(h.s.Values[col])
	}
	objects, bytes := value(h.cols.allocObjects)*h.use.alloc, value(h.cols.allocBytes)*h.use.alloc
	live := value(h.cols.inUseBytes)
	if setUp && (!h.use.inUse || live == 0) {
		d.setUpBytes += bytes
		return
	}
	if bytes == 0 && (!h.use.inUse || live == 0) {
		return
	}
	t, p := d.sites.at(h.c, h.s.Stack)
	if h.use.inUse {
		u := seen[t]
		if u == nil {
			u = new([2]float64)
			seen[t] = u
		}
		u[0] += live
		u[1] += value(h.cols.inUseObjects)
	}
	if setUp {
		d.setUpBytes += bytes
		return
	}
	t.objects += objects
	t.bytes += bytes
	t.events += events(objects, bytes, h.rate)
	if p.Via != "" {
		t.via[p.Via] += math.Abs(bytes)
	}
	kind := d.sites.kind.Of
	if h.raw {
		kind = d.sites.kind.OfRaw
	}
	k := kind(p)
	if k != finding.KindUnknown {
		t.kinds[k] += math.Abs(bytes)
	}
	pointers := d.sites.kind.Pointers(h.s.Stack)
	m := t.addMix(mixKey{k, p.Via}, objects, bytes)
	if h.raw {
		m.addTiny(tinyOf(p, pointers, objects, bytes))
	}
	d.lines.addHeap(h.c, h.s.Stack, objects, bytes)
	t.pointers[pointers] += math.Abs(objects)
	t.addStack(h.s.Stack, bytes)
}

// events is the expected number of sampling events behind an unsampled heap
// figure: a heap profile takes an allocation of size s with probability
// 1-exp(-s/rate).
func events(objects, bytes, rate float64) float64 {
	if objects == 0 || bytes == 0 {
		return 0
	}
	if rate <= 1 {
		return math.Inf(1)
	}
	return math.Abs(objects) * -math.Expm1(-bytes/objects/rate)
}

// closeSnapshot books the in-use columns of one snapshot: a site that it does
// not hold had nothing in use then.
func (d *runData) closeSnapshot(seen map[*siteTally]*[2]float64, u use) {
	for _, t := range d.sites.sites {
		v := seen[t]
		if v == nil {
			v = new([2]float64)
		}
		// Snapshots before the site first appeared count as empty too.
		for t.inUse.n < float64(d.snapshots-1) {
			t.inUse.add(0)
			t.inUseObjs.add(0)
		}
		t.inUse.add(v[0])
		t.inUseObjs.add(v[1])
		if u.first {
			t.firstLive = v[0]
		}
		if u.last {
			t.lastLive = v[0]
		}
	}
}
