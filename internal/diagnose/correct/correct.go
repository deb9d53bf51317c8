// Package correct corrects samples for the effects of measuring, and adds unsampled CPU
// time. A run is read as it was recorded. Each correction gives the weight of samples of
// some class of CPU time, or an amount of unsampled time. They are a list, applied in order,
// and each can be skipped.
package correct

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
)

// Correction is one entry of the list.
type Correction struct {
	Name  string
	Why   string // what is wrong without it
	Needs string // the evidence without which it changes nothing
	apply func(*Result)
}

// List returns the corrections in the order in which they are applied: later ones use the
// results of earlier ones.
func List() []Correction {
	return []Correction{
		{
			"cycle-scale", "a CPU profile changes how often a program collects",
			"collections counted by the runtime, profiled and not", cycleScale,
		},
		{
			"set-up", "background work of the collector that a benchmark's set-up caused is in its samples",
			"a log of the collector", setUp,
		},
		{
			"scheduler", "collections put threads to sleep and wake them, which looks like scheduling",
			"how often threads went to sleep", schedulerForCycles,
		},
		{
			"unsampled", "threads that run only briefly between sleeps are rarely sampled",
			"the CPU time that the process used", unsampledTime,
		},
		{
			"tiny-objects", "the heap profile counts blocks of the tiny allocator, not objects",
			"allocations that package testing counted, raw stacks", tinyObjects,
		},
	}
}

// Result is the weights of the samples of one run. A bucket that no correction touches has
// weight 1.
type Result struct {
	d          *run.Data
	processors int

	kept  [stack.BucketCount]float64 // share of a bucket's samples that belong to the run
	scale [stack.BucketCount]float64 // weight of a sample
	added [stack.BucketCount]float64 // unsampled CPU time, in samples

	CycleScale  float64 // weight of a sample of the collector; 1 when not known
	CycleKnown  bool
	profiled    float64 // cycles of the profiled processes; 0 when not known or not believed
	ForCycles   float64 // share of the scheduler's samples that collections cause
	Tiny        run.TinyScale
	Warnings    []string
	setUpBursts float64 // samples of set-up in burst buckets
}

// Options tunes Apply. The zero value applies all corrections.
type Options struct {
	Processors int      // GOMAXPROCS of the program
	Without    []string // names of corrections to skip
}

// Apply corrects a run.
func Apply(d *run.Data, o Options) *Result {
	r := &Result{d: d, processors: o.Processors, CycleScale: 1}
	for b := range r.kept {
		r.kept[b], r.scale[b] = 1, 1
	}
	for _, c := range List() {
		if !slices.Contains(o.Without, c.Name) {
			c.apply(r)
		}
	}
	return r
}

// Buckets returns CPU time by bucket, in samples.
func (r *Result) Buckets() [stack.BucketCount]float64 {
	out := r.added
	for b, n := range r.d.CPU.Buckets {
		out[b] += n * r.Weight(stack.Bucket(b))
	}
	return out
}

// bucket is the CPU time of one bucket, in samples.
func (r *Result) bucket(b stack.Bucket) float64 {
	return r.added[b] + r.d.CPU.Buckets[b]*r.Weight(b)
}

// Weight is the weight of a sample of a bucket.
func (r *Result) Weight(b stack.Bucket) float64 { return r.kept[b] * r.scale[b] }

// Scale is the weight of a sample that is known to belong to the run.
func (r *Result) Scale(b stack.Bucket) float64 { return r.scale[b] }

// SplitScheduler is the weight of the part of a scheduler's sample that collections cause,
// as time of stack.BucketCycleScheduler.
func (r *Result) SplitScheduler() float64 { return r.ForCycles * r.CycleScale }

// Samples is the number of CPU samples behind the charged buckets.
func (r *Result) Samples() float64 {
	sum := 0.0
	for i, n := range r.d.CPU.Buckets {
		b := stack.Bucket(i)
		if b == stack.BucketMarkIdle {
			continue
		}
		kept := r.kept[b]
		if b == stack.BucketScheduler {
			kept = 1 // the rest counts for collections
		}
		sum += n * kept
	}
	return sum
}

// Line is the CPU time of a line and its callees, in samples.
func (r *Result) Line(l *run.Line) float64 {
	return l.CPU[stack.Plain] + l.CPU[stack.Collecting]*r.CycleScale
}

// Sign is the CPU time that shows a sign, in samples.
func (r *Result) Sign(s stack.Sign) float64 {
	n := r.d.Signs.Samples[s]
	return n[stack.Plain] + n[stack.Collecting]*r.CycleScale
}

// backgroundBuckets are the collector's work on its own goroutines, whose
// stacks cannot show whether a benchmark's set-up or its measured run caused
// it.
var backgroundBuckets = []stack.Bucket{
	stack.BucketMarkDedicated, stack.BucketMarkFractional, stack.BucketMarkOther, stack.BucketMarkIdle,
	stack.BucketCycle,
}

// setUp removes from a benchmark's CPU the collector's work for set-up and for collections
// that package testing forces, by their share in the log of the same work.
func setUp(r *Result) {
	part := r.d.Collector.Part()
	for _, b := range backgroundBuckets {
		r.setUpBursts += r.bucket(b) * (1 - part)
		r.kept[b] *= part
	}
}

// tinyObjects makes counts of objects out of counts of blocks.
func tinyObjects(r *Result) { r.Tiny = r.d.TinyScale() }
