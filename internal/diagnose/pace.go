package diagnose

import "slices"

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
	// mostPaced is the largest ratio, either way, that is believed: with a live heap of
	// 1 MiB at the runtime's minimum heap it is 1.5, and with larger ones less.
	mostPaced = 3
)

// setPace learns how many collections the program has by itself for each one of
// the profiled run. The logs must have been read. It returns the inverse, and false
// where that is no figure that a profile on the heap explains.
func (d *runData) setPace() (seenForOne float64, ok bool) {
	d.pace, d.paced, d.cyclesSeen = 1, false, 0
	ops := int64(0)
	for _, p := range d.run.Parts {
		if !cpuPart(d.run, p) {
			continue
		}
		if p.Cycles == 0 {
			d.cyclesSeen = 0
			return 1, true
		}
		d.cyclesSeen += p.Cycles
		ops += p.Ops
	}
	alone, seen := float64(d.collector.all-d.collector.forced), float64(d.cyclesSeen)-float64(d.collector.forced)
	if !d.bench || ops <= 0 || d.collector.ops <= 0 || alone < fewestPaced || seen < fewestPaced {
		return 1, true
	}
	// With several counts, one of the passes may have been kept from its last.
	pace := alone / float64(d.collector.ops) / (seen / float64(ops))
	if pace < 1.0/mostPaced || pace > mostPaced {
		d.cyclesSeen = 0
		return 1 / pace, false
	}
	d.pace, d.paced = pace, true
	return 1 / pace, true
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
