package correct

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// While a CPU profile is taken, its buffers and the writer that compresses it are on the
// heap, 1.2 MB with Go 1.26, and survive every collection. So the profiled run of a
// benchmark collects at another rate than the unprofiled one. It collects less often if GOGC
// sets the heap goal, which grows by twice that amount with GOGC=100. It collects more often
// at the runtime's minimum heap, where the profile takes more than a quarter of the
// headroom. The collector's samples show the cost of the collections in the profiled run;
// they are scaled to the number in the unprofiled one.

const (
	// fewestCycles is the least number of automatic collections in either process, set-up
	// included: with fewer, the position of start and end within a cycle matters too much.
	fewestCycles = 20
	// mostCycleScale is the largest plausible ratio, either way: with a live heap of 1 MiB
	// at the runtime's minimum heap it is 1.5, with larger ones less.
	mostCycleScale = 3
)

// countedCycles is the number of cycles that the processes of the CPU profiles counted, set-up
// included, and of how many processes and operations; 0 cycles if one of them did not count.
func countedCycles(r evidence.Run) (cycles, processes, ops float64) {
	known := true
	for _, p := range r.Parts {
		if run.CPUPart(r, p) {
			cycles, processes, ops = cycles+float64(p.Cycles), processes+1, ops+float64(p.Ops)
			known = known && p.Cycles > 0
		}
	}
	if !known {
		cycles = 0
	}
	return cycles, processes, ops
}

// cycleScale computes how many collections the unprofiled run has for one of the profiled
// run.
func cycleScale(r *Result) {
	d := r.d
	cycles, processes, ops := countedCycles(d.Run)
	r.profiled = cycles
	log := d.Collector
	forced := float64(log.Forced) / math.Max(float64(log.Logs), 1) // in each process
	without, profiled := float64(log.All)-float64(log.Forced), cycles-processes*forced
	if !d.Bench {
		r.serviceScale()
		return
	}
	if log.Ops <= 0 || ops <= 0 || without < fewestCycles || profiled < fewestCycles {
		return
	}
	// With several counts, the last run of a pass may be missing.
	r.setCycleScale(without / float64(log.Ops) / (profiled / ops))
}

// serviceScale does it for a service: by the profile's own part of the live heap, where the
// recorder measured it, else by the collections of its unprofiled pass, by the request or the
// second. A heap that grows is collected less often in the later one of two passes, and each
// time at a higher cost, so the number of collections alone says nothing there.
func (r *Result) serviceScale() {
	d, log := r.d, r.d.Collector
	if scale := weightScale(d); scale > 0 {
		r.setCycleScale(scale)
		return
	}
	o := log.Service
	without, window := float64(len(log.Automatic())), log.Window.Seconds()
	if n := len(log.Stats); n >= 2 && without == 0 {
		without, window = float64(log.Stats[n-1].NumGC-log.Stats[0].NumGC), o.Stats.Seconds()
	}
	if !o.Unprofiled {
		return
	}
	profiled := o.Profiled
	if r.profiled > 0 && d.CPU.Wall > 0 {
		profiled = r.profiled / d.CPU.Wall.Seconds()
	}
	if window <= 0 || without < fewestCycles || profiled*d.CPU.Wall.Seconds() < fewestCycles {
		return
	}
	scale := without / window / profiled
	if log.Ops > 0 && d.CPU.Ops > 0 {
		scale *= (float64(d.CPU.Ops) / d.CPU.Wall.Seconds()) / (float64(log.Ops) / window)
	}
	r.setCycleScale(scale)
}

// profileWeight is the recorder's part of the live heap while the CPU profile was taken; 0 if
// that is not known.
func profileWeight(d *run.Data) float64 {
	own := 0.0
	for _, p := range d.Run.Parts {
		if run.CPUPart(d.Run, p) {
			own = math.Max(own, float64(p.OwnLive))
		}
	}
	return own
}

// weightScale does it by the profile's part of the live heap; 0 if that is not known. The program
// allocates from the live heap to the goal before the next collection. GOGC sets the goal above the
// live heap, stacks and globals; a memory limit, or the runtime's minimum, sets it whatever is live.
func weightScale(d *run.Data) float64 {
	own := profileWeight(d)
	lives, goals := d.Collector.Lives()
	live, goal := stats.MedianOf(lives), stats.MedianOf(goals)
	if own <= 0 || live <= 0 || goal <= live {
		return 0
	}
	percent, err := strconv.ParseFloat(cmp.Or(d.Collector.Gogc(), "100"), 64)
	if err != nil { // off
		return (goal - live - own) / (goal - live)
	}
	least := float64(minimumHeap) * percent / 100
	roots := 0.0 // stacks and globals; not seen in a goal that is the minimum
	if goal > 1.01*least {
		roots = (goal-live)*100/percent - live
	}
	if roots < -live/10 { // the goal is a limit's
		return (goal - live - own) / (goal - live)
	}
	distance := func(live float64) float64 {
		return math.Max((live+math.Max(roots, 0))*percent/100, least-live)
	}
	return distance(live+own) / distance(live)
}

// minimumHeap is the runtime's smallest heap goal with GOGC=100.
const minimumHeap = 4 * unit.MiB

// setCycleScale weighs the collector's samples, if scale is plausible.
func (r *Result) setCycleScale(scale float64) {
	d := r.d
	if !(scale >= 1.0/mostCycleScale && scale <= mostCycleScale) {
		r.profiled = 0
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
