package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// A heap comes back to pages that the scavenger has given to the system, and each is a page
// fault, in the sample of whoever touches it first. That is the allocator, which clears
// objects or writes its own marks beside them, as long as objects are small. Of a large one it
// touches nothing where the memory comes cleared from the system: there it is the
// program.

// LargestSmall is the size of the largest objects that share spans with others: the
// runtime's maxSmallSize.
const LargestSmall = 32 * unit.KiB

const (
	// leastTouched is what remains at least of what the allocator's samples show when page
	// faults are taken out of it: some of these are in the program's own code.
	leastTouched = 0.25
	// mostTouched is what a sample counts for at most: the program's own faults are many more
	// than that only where there is hardly a sample.
	mostTouched = 1000
	// dearerFaults is how much dearer a page fault may be than one that was measured with
	// nothing else going on: by perf, 1.3 times in a program of the lab that faults on two
	// processors.
	dearerFaults = 1.5
	// leastPage is the smallest page of the systems that Go runs on, in bytes, and
	// startFaults are those of a test binary with next to nothing to do.
	leastPage   = 4 << 10
	startFaults = 700
)

// touching are the buckets of code that meets a page first: the allocator's. Some
// pages are first touched by the program, which does not show.
var touching = []stack.Bucket{stack.BucketMalloc, stack.BucketZeroing, stack.BucketGrowCopy, stack.BucketConvert}

// faultsSeen returns the page faults an operation of the program alone and of the
// profiled run; false where they or their cost are not known, or would take more time than
// the process had.
func (d *runData) faultsSeen() (alone, seen float64, ok bool) {
	if !d.paced || d.run.PageFault == nil || d.alone.ops <= 0 {
		return 0, 0, false
	}
	sec := d.run.PageFault.NS.Value / 1e9
	if d.alone.faults*sec >= d.alone.cpu || d.seen.faults*sec >= d.seen.cpu {
		return 0, 0, false
	}
	return d.alone.faults / d.alone.ops, d.seen.faults / d.seen.ops, true
}

// chargeFaults makes the samples of code that meets fresh pages count for the
// page faults that the program has by itself: more or less than one each. What
// there are more or less of for large objects is not the allocator's, and left out.
func (d *runData) chargeFaults() {
	alone, seen, ok := d.faultsSeen()
	there := 0.0
	for _, b := range touching {
		there += d.buckets[b]
	}
	if !ok || there <= 0 {
		return
	}
	large := 0.0
	for _, t := range d.sites.sites {
		large += t.shareOf(d.allBytes()) * t.largeShare()
	}
	more := (alone - seen) * d.seen.ops * d.run.PageFault.NS.Value / 1e9 / d.period * math.Max(0, 1-large)
	d.touched = math.Min(math.Max(1+more/there, leastTouched), mostTouched)
	for _, b := range touching {
		d.buckets[b] *= d.touched
		for _, t := range d.sites.sites {
			t.cpu[b] *= d.touched
		}
	}
	for _, t := range d.lines {
		t.cpu += t.touching * (d.touched - 1)
	}
}

// largeShare is the share of the site's bytes that are in large objects; 0 when
// their sizes are not known.
func (t *siteTally) largeShare() float64 {
	large, all := 0.0, 0.0
	for _, c := range t.sizeCounts() {
		all += float64(c.Size) * c.Objects
		if c.Size > LargestSmall {
			large += float64(c.Size) * c.Objects
		}
	}
	if all <= 0 {
		return 0
	}
	return large / all
}

// ownFaults is the share of CPU that page faults take in the program's own code because of
// so many bytes of large objects, of the work behind the allocation columns; zero
// where the recording does not tell. The first fault of each page of the heap, and
// those of starting the process, are none of theirs.
func (r *runCosts) ownFaults(large float64) stats.Interval {
	alone, _, ok := r.faultsSeen()
	all := r.allBytes()
	if !ok || large <= 0 || all <= 0 || r.charged <= 0 || r.period <= 0 {
		return stats.Interval{}
	}
	peak := 0.0
	for _, c := range r.collector.automatic() {
		peak = math.Max(peak, float64(c.HeapEnd))
	}
	again := math.Max(0, alone*r.alone.ops-r.alone.processes*(peak/leastPage+startFaults)) / r.alone.ops
	share := math.Min(large/all, 1)
	perNS := again * r.seen.ops * share / 1e9 / (r.charged * r.period)
	most := r.buckets[stack.BucketApp] / r.charged * share
	ns := r.run.PageFault.NS
	return stats.Interval{Value: math.Min(perNS*ns.Value, most), Low: 0, High: math.Min(perNS*ns.High*dearerFaults, most)}
}
