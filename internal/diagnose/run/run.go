// Package run reads one run of a recording: its profiles, reduced to sites and lines, and
// its logs. It holds what was recorded and corrects nothing.
package run

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
	"github.com/heaptrim/heaptrim/internal/ingest/above"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
	"github.com/heaptrim/heaptrim/internal/kernel"
)

// Data is one run of a recording as it was recorded: the profiles reduced to sites, the logs
// to cycles.
type Data struct {
	Run   evidence.Run
	Bench bool // a benchmark: figures are per operation, and set-up is known

	CPU       CPU
	Heap      Heap
	Sites     *Sites
	Lines     Lines
	Collector CollectorLog
	Results   []BenchResult
	Signs     stack.Signs
	Kernel    *kernel.Work // nil without a recording of perf

	parts partState
}

// partState is kept while the parts of a run are read.
type partState struct {
	unread map[string]bool // paths of parts with an error; the warnings have it
	all    bool            // every part was read
	total  float64         // bytes of all sites, once every part was read
	stacks int             // counted by line so far
}

// CPU is the CPU profiles of a run.
type CPU struct {
	Known    bool
	Buckets  [stack.BucketCount]float64 // samples, without those of set-up and harness
	All      float64                    // samples
	Period   float64                    // seconds of CPU of one sample
	Used     time.Duration              // CPU time of the process in that window
	UsedPart bool                       // that of some profile is not known
	Sleeps   float64                    // of threads, in that window
	Ops      int64                      // operations of the timing pass
	Wall     time.Duration              // window of the timing pass
}

// Heap is what the heap profiles of a run cover.
type Heap struct {
	Allocs, InUse bool          // columns that are known
	Raw           bool          // stacks keep the runtime's frames
	Ops           float64       // operations behind the allocation columns
	Window        time.Duration // behind the allocation columns; 0: since the process started
	SetUpBytes    float64       // allocated in set-up, in no site
	Snapshots     int
	Rate          float64 // bytes a sample of the in-use columns
}

// BenchResult is the line of a benchmark in the text of one pass.
type BenchResult struct {
	Pass                         string
	name                         string
	NsPerOp, BytesPerOp, AllocOp float64
	n                            int64
}

// Reader reads the runs of a bundle.
type Reader struct {
	B     *bundle.Bundle
	Table *stack.Table
	Own   *stack.Ownership
	Kind  alloc.Kinder
	Warn  func(format string, args ...any)

	calls    map[string]above.Calls // by the path of their part
	lastPath string                 // of the profile opened last
	last     *evidence.Profile
}

// open opens a pprof profile. The one that was opened last needs no reading: most recordings
// have one that is large.
func (r *Reader) open(part evidence.Part) (*evidence.Profile, error) {
	path := r.B.Path(part)
	if r.last != nil && r.lastPath == path {
		return r.last, nil
	}
	r.last = nil // for its memory
	var err error
	if r.last, err = pprof.Open(path); err != nil {
		return nil, err
	}
	r.lastPath = path
	return r.last, nil
}

// Run reads every part of one run. A part that cannot be read is a warning: the others are
// still used. Where the measured loops have only a small part of what package testing counted, the benchmark loops
// elsewhere, such as in a function that it hands b.N: then nothing is taken for set-up, if that comes nearer.
func (r *Reader) Run(run evidence.Run) *Data {
	d := r.read(run)
	sites, counted := d.bytesPerOp()
	if len(run.Loops) == 0 || sites >= leastInLoops*counted {
		return d
	}
	run.Loops = nil
	warn := r.Warn
	r.Warn = func(string, ...any) {} // said by the first reading
	whole := r.read(run)
	r.Warn = warn
	if all, _ := whole.bytesPerOp(); math.Abs(all-counted) < math.Abs(sites-counted) {
		return whole
	}
	return d
}

func (r *Reader) read(run evidence.Run) *Data {
	d := &Data{
		Run: run, Sites: NewSites(r.Kind), Lines: Lines{},
		Bench: len(run.Loops) > 0 || r.B.Manifest.Target.Kind == evidence.TargetPackages,
	}
	for _, p := range run.Parts {
		r.damaged(d, p, r.log(d, p))
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
	for _, h := range heapUses(run, d.Bench) {
		r.damaged(d, h.Part, r.heap(d, h))
	}
	d.parts.total, d.parts.all = d.sumBytes(), true
	return d
}

// damaged notes that a part could not be read, or not to its end; nil is no
// damage.
func (r *Reader) damaged(d *Data, part evidence.Part, err error) {
	if err == nil {
		return
	}
	r.Warn("%v", err)
	if d.parts.unread == nil {
		d.parts.unread = map[string]bool{}
	}
	d.parts.unread[part.Path] = true
}

// Profiles calls cpu and heap with the profiles of a run, in the order of the first reading.
// Errors already reported by the first read are ignored: samples before the damage were
// counted then as well.
func (d *Data) Profiles(cpu func(evidence.Part) error, heap func(HeapUse) error) error {
	for _, p := range d.Run.Parts {
		if !CPUPart(d.Run, p) {
			continue
		}
		if err := cpu(p); err != nil && !d.parts.unread[p.Path] {
			return err
		}
	}
	for _, h := range heapUses(d.Run, d.Bench) {
		if err := heap(h); err != nil && !d.parts.unread[h.Part.Path] {
			return err
		}
	}
	return nil
}

// cpu adds a CPU profile.
func (r *Reader) cpu(d *Data, part evidence.Part) error {
	p, err := r.OpenCPU(part)
	if err != nil {
		return err
	}
	return r.addProfile(d, part, p)
}

// addProfile adds the CPU samples of a part that has been opened.
func (r *Reader) addProfile(d *Data, part evidence.Part, p *evidence.Profile) error {
	col := p.Column("cpu")
	if col < 0 {
		return fmt.Errorf("%s: a CPU profile without a cpu column", part.Path)
	}
	period := 1e7 // of the default 100 Hz
	if p.Period > 0 {
		period = float64(p.Period)
	}
	d.CPU.Known, d.CPU.Period = true, period/1e9
	if part.Ops > 0 {
		d.CPU.Ops += part.Ops
	}
	window := part.Wall
	if !d.Bench && p.Duration > 0 {
		window = p.Duration
	}
	d.CPU.Wall += window
	if most := processorTime(window, r.B.Manifest.Environment.NumCPU); part.Profiled > most {
		r.Warn(
			"%s: profiled_cpu_ns is %v of CPU time, more than the machine had (%v): unsampled time is "+
				"not known",
			part.Path, part.Profiled, most,
		)
		part.Profiled = 0
	}
	d.CPU.Used += part.Profiled
	d.CPU.Sleeps += float64(part.Sleeps)
	d.CPU.UsedPart = d.CPU.UsedPart || part.Profiled == 0
	c := d.reading(stack.NewClassifier(p, r.Table, r.Own, d.Run.Loops), p)
	return p.Samples.Scan(func(s evidence.Sample) error {
		d.CPU.All += float64(s.Values[col]) / period
		d.addCPU(c, s.Stack, float64(s.Values[col])/period)
		return nil
	})
}

// addCPU counts one CPU stack of n samples.
func (d *Data) addCPU(c *reading, locs []*evidence.Location, n float64) {
	if n <= 0 {
		return
	}
	if c.SetUp(locs) {
		return
	}
	b := c.Bucket(locs)
	d.CPU.Buckets[b] += n
	d.Signs.Add(c.Classifier, locs, b, n)
	c.addCPULines(locs, b, n)
	switch b {
	case stack.BucketMalloc, stack.BucketZeroing, stack.BucketGrowCopy, stack.BucketConvert, stack.BucketProfiler,
		stack.BucketAssist:
	default:
		return
	}
	t, p := c.site(locs)
	t.CPU[b] += n
	if k := d.Sites.kind.Of(p); k != finding.KindUnknown {
		// If allocation profiles name a kind, they outvote samples.
		vote(&t.Kinds, k, n*1e-6)
	}
	t.pointers[alloc.PointersIn(p.Above)] += n
	t.addStack(c.Classifier, locs, MixKey{}, n*1e-6)
}

// HeapUse is one heap profile of a run and what it contributes.
type HeapUse struct {
	Part evidence.Part
	use
}

// heapUses decides which column of which heap profile of a run counts: that
// depends on the others. The allocation columns are those of the pass with the
// finest sampling: another pass of the same work adds nothing but noise. The
// in-use columns are those of the finest pass that took snapshots meanwhile.
func heapUses(run evidence.Run, bench bool) []HeapUse {
	passes := map[string][]evidence.Part{}
	for _, p := range run.Parts {
		if p.Kind == evidence.KindAllocs || p.Kind == evidence.KindHeap {
			passes[p.Pass] = append(passes[p.Pass], p)
		}
	}
	allocs := finest(passes, func(parts []evidence.Part) bool {
		return slices.ContainsFunc(indices(parts), func(i int) bool { return allocSign(parts, i, bench) != 0 })
	})
	inUse := finest(passes, func(parts []evidence.Part) bool {
		return slices.Contains(snapshotsOf(parts, bench),
			true)
	})
	var out []HeapUse
	for _, pass := range slices.Compact([]string{allocs, inUse}) {
		parts := passes[pass]
		live := snapshotsOf(parts, bench)
		for i, p := range parts {
			var u use
			if pass == allocs {
				u.Alloc = allocSign(parts, i, bench)
			}
			if pass == inUse && live[i] {
				u.InUse = true
				u.first = !slices.Contains(live[:i], true)
				u.last = !slices.Contains(live[i+1:], true)
			}
			if u.Alloc != 0 || u.InUse {
				out = append(out, HeapUse{p, u})
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

// use is the contribution of one snapshot.
type use struct {
	Alloc       float64 // +1, -1 for the baseline of a window, 0 for nothing
	InUse       bool
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

// OpenHeap opens a heap profile.
func (r *Reader) OpenHeap(part evidence.Part) (*evidence.Profile, heapColumns, error) {
	p, err := r.open(part)
	if err != nil {
		return nil, heapColumns{}, err
	}
	cols := heapColumns{
		p.Column("alloc_objects"), p.Column("alloc_space"), p.Column("inuse_objects"), p.Column("inuse_space"),
	}
	if cols.AllocBytes < 0 && cols.InUseBytes < 0 {
		return nil, cols, fmt.Errorf("%s: a heap profile without alloc_space and inuse_space", part.Path)
	}
	if calls := r.above(part); calls != nil {
		p = calls.Over(p)
	}
	return p, cols, nil
}

// heap reads one heap profile.
func (r *Reader) heap(d *Data, h HeapUse) error {
	p, cols, err := r.OpenHeap(h.Part)
	if err != nil {
		return err
	}
	part, u, calls := h.Part, h.use, r.above(h.Part)
	if cols.AllocBytes < 0 {
		u.Alloc = 0
	}
	if u.Alloc > 0 {
		d.Heap.Allocs = true
		d.Heap.Raw = d.Heap.Raw || part.Raw || calls != nil
		d.Heap.Ops += float64(part.Ops)
		d.Heap.Window += part.Wall
	}
	if u.InUse && cols.InUseBytes >= 0 {
		d.Heap.InUse = true
		d.Heap.Snapshots++
	} else {
		u.InUse = false
	}
	rate := float64(p.Period)
	if part.Rate > 0 {
		rate = float64(part.Rate)
	}
	if u.InUse {
		d.Heap.Rate = rate
	}
	c := d.reading(stack.NewClassifier(p, r.Table, r.Own, d.Run.Loops), p)
	seen := map[*Site]*[2]float64{}
	err = p.Samples.Scan(func(s evidence.Sample) error {
		if c.Tool(s.Stack) {
			return nil
		}
		d.addHeap(heapSample{c, s, cols, u, rate, part.Raw || knows(calls, s.Stack)}, seen)
		return nil
	})
	if u.InUse {
		d.closeSnapshot(seen, u)
	}
	return err
}

type heapColumns struct{ AllocObjects, AllocBytes, InUseObjects, InUseBytes int }

type heapSample struct {
	c    *reading
	s    evidence.Sample
	cols heapColumns
	use  use
	rate float64
	raw  bool
}

// addHeap counts one heap stack.
func (d *Data) addHeap(h heapSample, seen map[*Site]*[2]float64) {
	setUp := h.c.SetUp(h.s.Stack)
	value := func(col int) float64 {
		if col < 0 {
			return 0
		}
		return float64(h.s.Values[col])
	}
	objects, bytes := value(h.cols.AllocObjects)*h.use.Alloc, value(h.cols.AllocBytes)*h.use.Alloc
	live := value(h.cols.InUseBytes)
	if setUp && (!h.use.InUse || live == 0) {
		d.Heap.SetUpBytes += bytes
		return
	}
	if bytes == 0 && (!h.use.InUse || live == 0) {
		return
	}
	t, p := h.c.site(h.s.Stack)
	if h.use.InUse {
		u := seen[t]
		if u == nil {
			u = new([2]float64)
			seen[t] = u
		}
		u[0] += live
		u[1] += value(h.cols.InUseObjects)
	}
	if setUp {
		d.Heap.SetUpBytes += bytes
		return
	}
	t.Objects += objects
	t.Bytes += bytes
	t.Events += Events(objects, bytes, h.rate)
	if p.Via != "" {
		vote(&t.Via, p.Via, math.Abs(bytes))
	}
	kind := d.Sites.kind.Of
	if h.raw {
		kind = d.Sites.kind.OfRaw
	}
	k := kind(p)
	if k != finding.KindUnknown {
		vote(&t.Kinds, k, math.Abs(bytes))
	}
	pointers := d.Sites.kind.Pointers(h.s.Stack)
	m := t.addMix(MixKey{k, p.Via}, objects, bytes, blockSize(h.s))
	m.pointers[pointers] += math.Abs(objects)
	if h.raw {
		m.addTiny(tinyOf(p, pointers, objects, bytes))
	}
	h.c.addHeapLines(h.s.Stack, objects, bytes)
	t.pointers[pointers] += math.Abs(objects)
	t.addStack(h.c.Classifier, h.s.Stack, MixKey{k, p.Via}, bytes)
}

// Events is the expected number of sampling events behind an unsampled heap
// figure: a heap profile takes an allocation of size s with probability
// 1-exp(-s/rate).
func Events(objects, bytes, rate float64) float64 {
	if objects == 0 || bytes == 0 {
		return 0
	}
	if rate <= 1 {
		return math.Inf(1)
	}
	return math.Abs(objects) * -math.Expm1(-bytes/objects/rate)
}

// closeSnapshot counts the in-use columns of one snapshot: a site that is not in it had
// nothing in use then.
func (d *Data) closeSnapshot(seen map[*Site]*[2]float64, u use) {
	for _, t := range d.Sites.Sites {
		v := seen[t]
		if v == nil {
			v = new([2]float64)
		}
		// Snapshots before the site first appeared count as empty too.
		for t.InUse.N < float64(d.Heap.Snapshots-1) {
			t.InUse.Add(0)
			t.InUseObjs.Add(0)
		}
		t.InUse.Add(v[0])
		t.InUseObjs.Add(v[1])
		if u.first {
			t.FirstLive = v[0]
		}
		if u.last {
			t.LastLive = v[0]
		}
	}
}

// processorTime is the largest CPU time that a process can use in a window, plus a tenth and
// a tick of each processor for clocks read at other moments.
func processorTime(window time.Duration, processors int) time.Duration {
	return time.Duration(math.Min(float64(max(processors, 1))*(1.1*window.Seconds()+0.01), 1e9) * 1e9)
}
