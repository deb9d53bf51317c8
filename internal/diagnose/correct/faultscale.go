package correct

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// A heap comes back to pages that the scavenger has given to the system, and each is a page
// fault, in the sample of whoever touches it first. That is the allocator, which clears
// objects or writes its own marks beside them, as long as objects are small. Of a large one it
// touches nothing where the memory comes cleared from the system: there it is the
// program.

const (
	// leastFaultScale is what remains at least of what the allocator's samples show when page
	// faults are taken out of it: some of these are in the program's own code.
	leastFaultScale = 0.25
	// mostFaultScale is what a sample counts for at most: the program's own faults are many more
	// than that only where there is hardly a sample.
	mostFaultScale = 1000
)

// Faults returns the page faults an operation of the program without a profile
// and of the profiled run; false where they or their cost are not known, or
// would take more time than the process had. f is what one costs.
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

// faultScale makes the samples of code that meets fresh pages count for the
// page faults that the program has without a profile. What there are more or
// less of for large objects is not the allocator's, and excluded.
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
