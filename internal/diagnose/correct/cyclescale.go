package correct

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// While a CPU profile is taken, its buffers and the writer that compresses it are on the
// heap, 1.2 MB with Go 1.26, and survive every collection. So the profiled run of a
// benchmark collects at another rate than the unprofiled one. It collects less often if GOGC
// sets the heap goal, which grows by twice that amount with GOGC=100. It collects more often
// at the runtime's minimum heap, where the profile takes more than a quarter of the
// headroom. The collector's samples show the cost of the collections in the profiled run;
// they are scaled to the number in the unprofiled one.
//
// Small heaps are affected more. 0.13 MB of the buffers are scanned, which makes each
// collection longer. The scavenger returns other memory, and the program has a page fault
// when it touches that again. Such benchmarks also run once without a profile.

const (
	// fewestCycles is the least number of automatic collections in either process, set-up
	// included: with fewer, the position of start and end within a cycle matters too much.
	fewestCycles = 20
	// mostCycleScale is the largest plausible ratio, either way: with a live heap of 1 MiB
	// at the runtime's minimum heap it is 1.5, with larger ones less.
	mostCycleScale = 3
)

// Use is the resource use of a benchmark's processes, set-up included.
type Use struct {
	Processes float64
	Ops       float64
	cycles    float64 // 0 if a part lacks it
	collector float64 // seconds, as the runtime accounts for it; 0 if a part lacks it
	CPU       float64 // seconds of the process; 0 if a part lacks it
	Faults    float64 // without disk; known where cpu is
}

// useOf adds up the use of some parts of a run.
func useOf(r evidence.Run, counts func(evidence.Part) bool) Use {
	var u Use
	cycles, collector, used := true, true, true
	for _, p := range r.Parts {
		if !counts(p) {
			continue
		}
		u.Processes++
		u.Ops += float64(p.Ops)
		u.cycles += float64(p.Cycles)
		u.collector += p.Collector.Seconds()
		u.CPU += p.Profiled.Seconds()
		u.Faults += float64(p.MinorFaults)
		cycles, collector, used = cycles && p.Cycles > 0, collector && p.Collector > 0, used && p.Profiled > 0
	}
	if !cycles {
		u.cycles = 0
	}
	if !collector {
		u.collector = 0
	}
	if !used {
		u.CPU, u.Faults = 0, 0
	}
	return u
}

// automatic is the number of collections that were not forced, for a given number of forced
// ones in each process.
func (u Use) automatic(forced float64) float64 { return u.cycles - u.Processes*forced }

// collectorBeside is the collector's CPU time divided by that of the rest without page
// faults. It is comparable between two runs at different speeds of the machine; 0 when not
// known.
func (u Use) collectorBeside(f *evidence.PageFault) float64 {
	rest := u.CPU - u.collector
	if f != nil {
		rest -= u.Faults * f.NS.Value / 1e9
	}
	if u.collector <= 0 || rest <= 0 {
		return 0
	}
	return u.collector / rest
}

// cycleScale computes the collector's cost in the unprofiled run divided by its cost in the
// profiled one: by the runtime's own accounting if there is an unprofiled run, or else by
// the number of collections.
func cycleScale(r *Result) {
	d := r.d
	r.Profiled = useOf(d.Run, func(p evidence.Part) bool { return run.CPUPart(d.Run, p) })
	r.Unprofiled = useOf(d.Run, func(p evidence.Part) bool { return p.Pass == evidence.PassAlone })
	log := Use{Processes: float64(d.Collector.Logs), Ops: float64(d.Collector.Ops), cycles: float64(d.Collector.All)}
	forced := float64(d.Collector.Forced) / math.Max(log.Processes, 1)
	known := func(u Use) bool { return d.Bench && u.Ops > 0 && u.automatic(forced) >= fewestCycles }
	without := r.Unprofiled
	if !known(without) {
		without, r.Unprofiled = log, Use{}
	}
	if !known(without) || !known(r.Profiled) {
		return
	}
	// With several counts, the last run of a pass may be missing.
	scale := without.automatic(forced) / without.Ops / (r.Profiled.automatic(forced) / r.Profiled.Ops)
	if a, b := without.collectorBeside(d.Run.PageFault), r.Profiled.collectorBeside(d.Run.PageFault); a > 0 && b > 0 {
		scale = a / b
	}
	if !(scale >= 1.0/mostCycleScale && scale <= mostCycleScale) {
		r.Profiled.cycles, r.Unprofiled = 0, Use{}
		r.Warnings = append(
			r.Warnings,
			fmt.Sprintf(
				"%s: the profiled run collected %.3g times as often as the unprofiled one; its correction was "+
					"skipped. "+
					"Collector figures may be wrong: record again on an idle machine",
				d.Run.Name, 1/scale,
			),
		)
		return
	}
	r.CycleScale, r.CycleKnown = scale, true
	for b := range r.scale {
		if stack.Bucket(b).Class() == stack.Collecting {
			r.scale[b] = scale
		}
	}
}

// CyclesUnprofiled scales the log's cycle count to a run without any recording; logging also
// perturbs small programs.
func (r *Result) CyclesUnprofiled() float64 {
	log := r.d.Collector
	if r.Unprofiled.Ops <= 0 || log.All == 0 || log.Ops <= 0 {
		return 1
	}
	return r.Unprofiled.cycles / r.Unprofiled.Ops / (float64(log.All) / float64(log.Ops))
}
