package correct

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// A heap reuses pages that the scavenger has returned to the system. Each causes a page
// fault in the code that touches it first. For small objects that is the allocator, which
// clears them or writes its own metadata. Large objects come cleared from the system, so the
// program touches them first.

const (
	// leastFaultScale is the least part of the allocator's samples that remains when page
	// faults are removed: some of the faults are in the program's own code.
	leastFaultScale = 0.25
	// mostFaultScale is the largest weight of a sample: larger ratios occur only with hardly
	// any samples.
	mostFaultScale = 1000
)

// Faults returns the page faults an operation of the program without a profile and of the
// profiled run; false if they or their cost are not known, or would take more time than the
// process had. f is the cost of one.
func (r *Result) Faults(f *evidence.PageFault) (unprofiled, profiled float64, ok bool) {
	if !r.CycleKnown || f == nil || r.Unprofiled.Ops <= 0 {
		return 0, 0, false
	}
	sec := f.NS.Value / 1e9
	if r.Unprofiled.Faults*sec >= r.Unprofiled.CPU || r.Profiled.Faults*sec >= r.Profiled.CPU {
		return 0, 0, false
	}
	return r.Unprofiled.Faults / r.Unprofiled.Ops, r.Profiled.Faults / r.Profiled.Ops, true
}

// faultScale scales the samples of code that touches fresh pages to the page faults of the
// program without a profile. The difference due to large objects is not the allocator's and
// is excluded.
func faultScale(r *Result) {
	unprofiled, profiled, ok := r.Faults(r.d.Run.PageFault)
	there := 0.0
	for _, b := range stack.FreshBuckets {
		there += r.bucket(b)
	}
	if !ok || there <= 0 {
		return
	}
	d := r.d
	large := 0.0
	for _, t := range d.Sites.Sites {
		large += d.ShareOf(t) * t.LargeShare()
	}
	more := (unprofiled - profiled) * r.Profiled.Ops * d.Run.PageFault.NS.Value / 1e9 / d.CPU.Period * math.Max(0,
		1-large)
	r.FaultScale = math.Min(math.Max(1+more/there, leastFaultScale), mostFaultScale)
	for _, b := range stack.FreshBuckets {
		r.scale[b] = r.FaultScale
	}
}
