package diagnose

import (
	"math"
	"slices"
)

// While a CPU profile is taken its buffers and the writer that compresses it are on
// the heap, 1.2 MB with Go 1.26, and every collection finds them alive. So the profiled
// run of a benchmark does not collect as often as the program does by itself: seldomer
// where GOGC sets the heap goal, which grows by twice that with GOGC=100, and more often
// at the runtime's minimum heap, where more than a quarter of the room is taken. What
// the collector's samples show is the cost of the collections that there were; it counts
// for as many as the same work has without the profile, in the collector pass.

const (
	// fewestPaced is how many collections either process must have had that were not
	// forced, set-up included: of fewer, where it begins and ends within a cycle counts too much.
	fewestPaced = 20
	// mostPaced bounds the ratio, for a recording that does not fit together.
	mostPaced = 2
)

// setPace learns how many collections the program has by itself for each one of
// the profiled run. The logs must have been read.
func (d *runData) setPace() {
	d.pace, d.cyclesSeen = 1, 0
	for _, p := range d.run.Parts {
		if !cpuPart(d.run, p) {
			continue
		}
		if p.Cycles == 0 {
			d.cyclesSeen = 0
			return
		}
		d.cyclesSeen += p.Cycles
	}
	if !d.bench {
		return
	}
	alone, seen := float64(d.collector.all-d.collector.forced), float64(d.cyclesSeen)-float64(d.collector.forced)
	if alone >= fewestPaced && seen >= fewestPaced {
		d.pace = math.Min(math.Max(alone/seen, 1.0/mostPaced), mostPaced)
	}
}

// paceOf is what a CPU sample of a bucket counts for: more or less than one where
// it goes with the collections.
func (d *runData) paceOf(b bucket) float64 {
	if bucketInfo[b].collector || b == bucketAssist || b == bucketMarkIdle {
		return d.pace
	}
	return 1
}

// weight is the part of a sample of a CPU profile that is in its bucket after all
// that the logs tell of it.
func (d *runData) weight(b bucket) float64 {
	w := d.paceOf(b)
	if slices.Contains(backgroundBuckets, b) {
		w *= d.collector.part()
	}
	if b == bucketScheduler {
		w *= 1 - d.forCycles
	}
	return w
}

// samples is how many CPU samples the charged buckets stand on.
func (d *runData) samples() float64 {
	sum := 0.0
	for i, n := range d.buckets {
		if b := bucket(i); b != bucketMarkIdle && !slices.Contains(noSampleBuckets, b) {
			sum += n / d.paceOf(b)
		}
	}
	return sum
}
