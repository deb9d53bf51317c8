package diagnose

import (
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// While a CPU profile is taken its buffers and the writer that compresses it are on
// the heap, 1.2 MB with Go 1.26, and every collection finds them alive. So the profiled
// run of a benchmark does not collect as often as the program does by itself: seldomer
// where GOGC sets the heap goal, which grows by twice that with GOGC=100, and more often
// at the runtime's minimum heap, where more than a quarter of the room is taken. What
// the collector's samples show is the cost of the collections that there were; it counts
// for those that the same work has without the profile.
//
// Small heaps notice more of it. 0.13 MB of the buffers are scanned, which makes each
// collection longer, and the scavenger gives back other memory, which the program
// touches again: a page fault each. Such benchmarks are run alone, too.

const (
	// fewestPaced is how many collections either process must have had that were not
	// forced, set-up included: of fewer, where it begins and ends within a cycle counts too much.
	fewestPaced = 20
	// mostPaced is the largest ratio, either way, that is believed: with a live heap of
	// 1 MiB at the runtime's minimum heap it is 1.5, and with larger ones less.
	mostPaced = 3
)

// processUse is what a benchmark's processes used, their set-up included.
type processUse struct {
	processes float64
	ops       float64
	cycles    float64 // 0 when some part does not tell it
	collector float64 // seconds, as the runtime accounts for it; 0 when some part does not tell it
	cpu       float64 // seconds of the process; 0 when some part does not tell it
	faults    float64 // without disk; known where cpu is
}

// useOf adds up what some parts of a run say.
func useOf(run evidence.Run, counts func(evidence.Part) bool) processUse {
	var u processUse
	cycles, collector, used := true, true, true
	for _, p := range run.Parts {
		if !counts(p) {
			continue
		}
		u.processes++
		u.ops += float64(p.Ops)
		u.cycles += float64(p.Cycles)
		u.collector += p.Collector.Seconds()
		u.cpu += p.Profiled.Seconds()
		u.faults += float64(p.MinorFaults)
		cycles, collector, used = cycles && p.Cycles > 0, collector && p.Collector > 0, used && p.Profiled > 0
	}
	if !cycles {
		u.cycles = 0
	}
	if !collector {
		u.collector = 0
	}
	if !used {
		u.cpu, u.faults = 0, 0
	}
	return u
}

// automatic is how many collections were not forced, when so many are forced in
// each process.
func (u processUse) automatic(forced float64) float64 { return u.cycles - u.processes*forced }

// collectorBeside is the collector's processor time for each second of all else
// but page faults, by which two runs compare that the machine did not run equally
// fast; 0 when not known.
func (u processUse) collectorBeside(f *evidence.PageFault) float64 {
	rest := u.cpu - u.collector
	if f != nil {
		rest -= u.faults * f.NS.Value / 1e9
	}
	if u.collector <= 0 || rest <= 0 {
		return 0
	}
	return u.collector / rest
}

// setPace learns what the collector costs the program by itself for each unit of its
// cost in the profiled run: by the runtime's own account where the work was also
// run alone, or else by the number of collections. The logs must have been read.
// It returns the inverse, and false where that is no figure that a profile on the
// heap explains.
func (d *runData) setPace() (seenForOne float64, ok bool) {
	d.pace, d.paced, d.touched = 1, false, 1
	d.seen = useOf(d.run, func(p evidence.Part) bool { return cpuPart(d.run, p) })
	d.alone = useOf(d.run, func(p evidence.Part) bool { return p.Pass == passAlone })
	d.cyclesSeen = d.seen.cycles
	log := processUse{processes: float64(d.collector.logs), ops: float64(d.collector.ops), cycles: float64(d.collector.all)}
	forced := float64(d.collector.forced) / math.Max(log.processes, 1)
	known := func(u processUse) bool { return d.bench && u.ops > 0 && u.automatic(forced) >= fewestPaced }
	without := d.alone
	if !known(without) {
		without, d.alone = log, processUse{}
	}
	if !known(without) || !known(d.seen) {
		return 1, true
	}
	// With several counts, one of the passes may have been kept from its last.
	pace := without.automatic(forced) / without.ops / (d.seen.automatic(forced) / d.seen.ops)
	if a, b := without.collectorBeside(d.run.PageFault), d.seen.collectorBeside(d.run.PageFault); a > 0 && b > 0 {
		pace = a / b
	}
	if !(pace >= 1.0/mostPaced && pace <= mostPaced) {
		d.cyclesSeen, d.alone = 0, processUse{}
		return 1 / pace, false
	}
	d.pace, d.paced = pace, true
	return 1 / pace, true
}

// cyclesAlone is by what the collections of the log count, which change a small
// program, too: its log and the heap profiles are made in it.
func (d *runData) cyclesAlone() float64 {
	if d.alone.ops <= 0 || d.collector.all == 0 || d.collector.ops <= 0 {
		return 1
	}
	return d.alone.cycles / d.alone.ops / (float64(d.collector.all) / float64(d.collector.ops))
}

// paceOf is what a CPU sample of a bucket counts for: more or less than one where
// it goes with the collections or with page faults.
func (d *runData) paceOf(b stack.Bucket) float64 {
	switch {
	case stack.BucketInfo[b].Collector || b == stack.BucketAssist || b == stack.BucketMarkIdle:
		return d.pace
	case slices.Contains(touching, b):
		return d.touched
	}
	return 1
}

// weight is the part of a sample of a CPU profile that is in its bucket after all
// that the logs tell of it.
func (d *runData) weight(b stack.Bucket) float64 {
	w := d.paceOf(b)
	if slices.Contains(backgroundBuckets, b) {
		w *= d.collector.part()
	}
	if b == stack.BucketScheduler {
		w *= 1 - d.forCycles
	}
	return w
}

// samples is how many CPU samples the charged buckets stand on.
func (d *runData) samples() float64 {
	sum := 0.0
	for i, n := range d.buckets {
		if b := stack.Bucket(i); b != stack.BucketMarkIdle && !slices.Contains(noSampleBuckets, b) {
			sum += n / d.paceOf(b)
		}
	}
	return sum
}
