package diagnose

import (
	"errors"
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// WeightedStack is one stack of a recording with its weights: either CPU time of one bucket,
// or the figures of a heap profile. It is valid during the callback that receives it only.
type WeightedStack struct {
	Run  string
	Heap bool // of a heap profile; else of a CPU profile

	// Frames before Inline of the first Location are not part of the stack: they
	// are the runtime's, and heap profiles show them in some recordings only.
	Stack  []*evidence.Location // leaf first; not valid after the call
	Inline int

	Labels []evidence.Label // of the sample; not valid after the call

	Bucket BucketKind // of CPU
	CPU    float64    // nanoseconds

	Churn     float64 // nanoseconds of the collector through bytes allocated
	Retention float64 // nanoseconds of the collector through bytes in use; negative when they are headroom
	Bytes     float64 // allocated in the recording, less those of set-up
	Objects   float64
	InUse     float64 // bytes, mean of the snapshots
	InUseObj  float64
	Sampled   Sampling
}

// Sampling is what decides the sampling error of a stack.
type Sampling struct {
	// Samples that the heap profiler took of the bytes allocated and in use;
	// they decide the sampling error. Without sampling they are the objects.
	Allocs float64
	InUse  float64
	Exact  bool // every allocation was recorded: bytes and objects have no sampling error
}

// BucketKind is a class of CPU time as the decomposition names it.
type BucketKind struct {
	Name      string
	Memory    bool // part of what memory management costs
	Collector bool // charged to allocations as churn and retention, not where it was sampled
	Idle      bool // shown, never charged
}

// WalkStacks calls yield with the stacks of every run, in the order of the recording, until
// an error, which it returns. The CPU weights of all buckets but the idle one add up to the
// CPU time of the findings' shares; without the collector's buckets, but with Churn,
// Retention and the remainder of RunTimes, the sum is the same. It reads the profiles again:
// the bundle that d came from must still be open.
func (s *Session) WalkStacks(yield func(WeightedStack) error) error {
	if s.reader == nil {
		return errors.New("this diagnosis was not made from a recording")
	}
	for _, r := range s.runs {
		w := stackWalk{s.reader, r, map[stack.Key]*siteCost{}, yield}
		for i := range r.sites {
			w.sites[r.sites[i].site.Key] = &r.sites[i]
		}
		if err := r.Profiles(w.cpu, w.heap); err != nil {
			return err
		}
	}
	return nil
}

// RunTime is the CPU time of one run.
type RunTime struct {
	Run       string
	CPU       float64      // nanoseconds charged: the whole of the run's shares; 0 without a CPU profile
	Sample    float64      // nanoseconds of one CPU sample
	Remainder float64      // nanoseconds of the collector that are unattributed; can be negative
	Unsampled []BucketTime // nanoseconds that are unsampled, hence on no stack
	// CollectorError is half the 95 % interval of the collector's CPU, relative to it.
	CollectorError float64
}

// RunTimes returns the CPU time of every run, in the order of the recording.
func (s *Session) RunTimes() []RunTime {
	out := make([]RunTime, 0, len(s.runs))
	for _, r := range s.runs {
		cpu := r.cpu.charged * r.CPU.Period * 1e9
		out = append(
			out,
			RunTime{
				r.Run.Name, cpu, r.CPU.Period * 1e9, r.cpu.remainder.Value * cpu, r.unsampledTimes(),
				stats.RelativeWidth(r.cpu.collected),
			},
		)
	}
	return out
}

// BucketTime is CPU time of one class.
type BucketTime struct {
	Bucket BucketKind
	CPU    float64 // nanoseconds
}

func timeClass(b stack.Bucket) BucketKind {
	return BucketKind{
		stack.BucketInfo[b].Name, stack.BucketInfo[b].Memory, stack.BucketInfo[b].Collector, b == stack.BucketMarkIdle,
	}
}

// Owner says who can change a frame's source: "yours", "test", "module" for
// another module, "std" or "runtime".
func (s *Session) Owner(f evidence.Frame) string {
	if s.reader == nil {
		return ""
	}
	switch s.reader.Own.Of(f) {
	case stack.OwnerUser:
		return "yours"
	case stack.OwnerTest:
		return "test"
	case stack.OwnerThirdParty:
		return "module"
	case stack.OwnerStd:
		return "std"
	}
	return "runtime"
}

// Place is a frame as a finding would name it: with its package, and its file
// relative to the module where it lies below it or in the workspace.
func (s *Session) Place(f evidence.Frame) evidence.Site {
	return rootOf(s.diagnosis).Place(f)
}

// stackWalk reads the profiles of one run.
type stackWalk struct {
	*run.Reader
	run   *runCosts
	sites map[stack.Key]*siteCost
	yield func(WeightedStack) error
}

func (w stackWalk) cpu(part evidence.Part) error {
	prof, err := w.OpenCPU(part)
	if err != nil {
		return err
	}
	col := prof.Column("cpu")
	if col < 0 {
		return nil // the diagnosis has warned of it
	}
	c := stack.NewClassifier(prof, w.Table, w.Own, w.run.Run.Loops)
	return prof.Samples.Scan(func(s evidence.Sample) error {
		if s.Values[col] <= 0 || c.SetUp(s.Stack) {
			return nil
		}
		b, v := c.Bucket(s.Stack), float64(s.Values[col])
		out := WeightedStack{
			Run: w.run.Run.Name, Stack: stack.WithoutPreemption(s.Stack), Labels: s.Labels, CPU: v * w.run.counts.Weight(b),
			Bucket: timeClass(b),
		}
		if b == stack.BucketScheduler && w.run.counts.ForCycles > 0 {
			part := out
			part.CPU, part.Bucket = v*w.run.counts.SplitScheduler(), timeClass(stack.BucketCycleScheduler)
			if err := w.yield(part); err != nil {
				return err
			}
		}
		return w.yield(out)
	})
}

func (w stackWalk) heap(h run.HeapUse) error {
	prof, cols, err := w.OpenHeap(h.Part)
	if err != nil {
		return err
	}
	run := w.run
	rate := float64(prof.Period)
	if h.Part.Rate > 0 {
		rate = float64(h.Part.Rate)
	}
	c := stack.NewClassifier(prof, w.Table, w.Own, run.Run.Loops)
	sites := stack.NewPerSite(c, func(k stack.Key) *siteCost { return w.sites[k] })
	nanos, all := run.cpu.charged*run.CPU.Period*1e9, run.AllBytes()
	return prof.Samples.Scan(func(s evidence.Sample) error {
		site := sites.Of(stack.FindPath(c, s.Stack))
		if site == nil || c.Tool(s.Stack) {
			return nil
		}
		locs, inline := programOf(c, s.Stack)
		out := WeightedStack{
			Run:     run.Run.Name,
			Heap:    true,
			Stack:   locs,
			Labels:  s.Labels,
			Inline:  inline,
			Sampled: Sampling{Exact: rate <= 1},
		}
		value := func(col int) float64 {
			if col < 0 {
				return 0
			}
			return float64(s.Values[col])
		}
		if h.Alloc != 0 && cols.AllocBytes >= 0 && !c.SetUp(s.Stack) {
			out.Objects, out.Bytes = value(cols.AllocObjects)*h.Alloc, value(cols.AllocBytes)*h.Alloc
			out.Sampled.Allocs = countable(out.Objects, out.Bytes, rate) * h.Alloc
			if all > 0 {
				out.Churn = run.cpu.collected.Value * run.model.churn() * out.Bytes / all * nanos
			}
		}
		if h.InUse && cols.InUseBytes >= 0 && run.Heap.Snapshots > 0 {
			n := float64(run.Heap.Snapshots)
			live, objects := value(cols.InUseBytes), value(cols.InUseObjects)
			out.InUse, out.InUseObj = live/n, objects/n
			out.Sampled.InUse = countable(objects, live, rate) / n
			if site.site.InUse.Sum > 0 {
				out.Retention = site.cost.Retention.Value * live / site.site.InUse.Sum * nanos
			}
		}
		if out.Bytes == 0 && out.InUse == 0 {
			return nil
		}
		return w.yield(out)
	})
}

// countable is events, and the objects where there are infinitely many.
func countable(objects, bytes, rate float64) float64 {
	if e := run.Events(objects, bytes, rate); !math.IsInf(e, 1) {
		return e
	}
	return math.Abs(objects)
}

// programOf drops the runtime's frames above the allocation without allocating: the caller may have to skip the first frames of the first Location.
func programOf(c *stack.Classifier, locs []*evidence.Location) ([]*evidence.Location, int) {
	for i, l := range locs {
		for j, f := range c.Loc(l).Frames {
			if f.Owner != stack.OwnerRuntime {
				return locs[i:], j
			}
		}
	}
	return locs, 0
}
