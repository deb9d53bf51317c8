package diagnose

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/diagnose/run"
	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// totals is the headline over all runs. Shares come from the decomposition;
// the collector's figures are those of the run with most cycles, because
// cycles of different programs have no mean.
func totals(runs []*runCosts, env evidence.Environment) finding.Totals {
	var t finding.Totals
	for _, r := range runs {
		t.CPUSeconds += r.cpu.charged * r.CPU.Period
	}
	t.Samples = samples(runs)
	t.MemoryShare, _ = meanShare(
		runs, func(b stack.Bucket) bool { return stack.BucketInfo[b].Memory && b != stack.BucketMarkIdle },
	)
	t.AssistShare, _ = meanShare(runs, func(b stack.Bucket) bool { return b == stack.BucketAssist })
	t.CollectorShare, _ = meanShare(runs, ofCollector)
	t.IdleMarkShare, _ = meanShare(runs, func(b stack.Bucket) bool { return b == stack.BucketMarkIdle })
	main := busiest(runs)
	t.Run = main.Run.Name
	t.Retention = finding.Basis{Known: main.model.known, Text: main.model.why}
	for _, r := range runs {
		borne := stats.Spread(r.cpu.collected.Value-r.cpu.remainder.Value, stats.RelativeWidth(r.cpu.collected))
		t.Sites = t.Sites.Add(borne.Scale(1 / float64(len(runs))))
		t.Remainder = t.Remainder.Add(r.cpu.remainder.Scale(1 / float64(len(runs))))
	}
	fillCycles(&t, main, env)
	fillGoal(&t, main.Collector, env)
	t.BytesPerSecond = rateOf(main)
	if len(main.Collector.Automatic()) > 0 {
		t.Heap.Peak = peakInStep(t)
	}
	t.Why = why(main, t)
	return t
}

// samples are the CPU samples of all runs.
func samples(runs []*runCosts) int64 {
	n := 0.0
	for _, r := range runs {
		n += r.counts.Samples()
	}
	return int64(math.Round(n))
}

// rateOf is the allocation rate of a run, in bytes a second; 0 if it is not known. A benchmark's is that of the process
// whose collections were counted: passes run at different speeds, and the rate stands beside the collections a second.
func rateOf(r *runCosts) float64 {
	if l := r.Collector; r.Bench && l.Window > 0 && l.Ops > 0 {
		if perOp := r.ofTiming(func(b run.BenchResult) float64 { return b.BytesPerOp }); perOp > 0 {
			return perOp * float64(l.Ops) / l.Window.Seconds()
		}
	}
	if sec := r.SecondsOfAllocs(); sec > 0 {
		return r.AllBytes() / sec
	}
	return 0
}

// busiest is the run with most automatic cycles.
func busiest(runs []*runCosts) *runCosts {
	best := runs[0]
	for _, r := range runs {
		if len(r.Collector.Automatic()) > len(best.Collector.Automatic()) {
			best = r
		}
	}
	return best
}

// fillCycles fills in what the collector's log says.
func fillCycles(t *finding.Totals, r *runCosts, env evidence.Environment) {
	log := r.Collector
	auto := log.Automatic()
	t.Cycles.Logged = log.Logged
	t.Cycles.Automatic, t.Cycles.Forced = len(auto), len(log.Cycles)-len(auto)
	if log.Window > 0 {
		t.Cycles.PerSecond = float64(t.Cycles.Automatic) / log.Window.Seconds()
	}
	t.Cycles.PerSecond *= r.cycleScale()
	t.Cycles.TraceShare = traceShare(log)
	var pauses []time.Duration
	for _, c := range auto {
		t.Heap.Peak = max(t.Heap.Peak, c.HeapEnd)
		pauses = append(pauses, c.Wall.SweepTermination, c.Wall.MarkTermination)
	}
	// Cycles and samples in time have medians of their own: both figures come
	// from the same.
	live, goal := log.Lives()
	t.Heap.Live, t.Heap.Goal = unit.Bytes(stats.MedianOf(live)), unit.Bytes(stats.MedianOf(goal))
	t.Heap.LiveMin, t.Heap.LiveMax = ends(live)
	if len(log.Cycles) == 0 && len(log.Stats) >= 2 {
		pauses, t.Pauses.OfCycles = fillMemStats(t, r.Data, env), true
		t.Pauses.Unseen = t.Cycles.Automatic + t.Cycles.Forced - len(pauses)
	}
	slices.Sort(pauses)
	for _, p := range pauses {
		t.Pauses.Total += p
	}
	o := log.Service
	t.Heap.Resident, t.Heap.OwnLive, t.Heap.OwnResident = o.Resident, o.OwnLive, o.OwnResident
	if n := len(pauses); n > 0 {
		t.Pauses.P50, t.Pauses.Max = pauses[n/2], pauses[n-1]
	}
}

// peakInStep is the largest heap of a log that cuts sizes to whole MiB: as large as the live heap
// with what a cycle allocates, where that lies in the step; else the middle of the step or its
// nearer end.
func peakInStep(t finding.Totals) unit.Bytes {
	at := unit.Bytes(run.RoundedUp(t.Heap.Peak))
	if t.BytesPerSecond > 0 && t.Cycles.PerSecond > 0 {
		at = t.Heap.Live + unit.Bytes(t.BytesPerSecond/t.Cycles.PerSecond)
	}
	return min(max(at, t.Heap.Peak), t.Heap.Peak+unit.MiB)
}

// traceShare adds the cycles of a log up as the runtime does for its log.
func traceShare(log run.CollectorLog) float64 {
	var used time.Duration
	procs := 0
	for _, c := range log.Cycles {
		used += c.Used.SweepTermination + c.Used.Assist + c.Used.Background + c.Used.MarkTermination
		procs = max(procs, c.Procs)
	}
	if log.Window <= 0 || procs == 0 {
		return 0
	}
	return used.Seconds() / log.Window.Seconds() / float64(procs)
}

// fillGoal says whether the program had a heap goal at the end. It drops a goal that no
// collection had, from before the program turned collection off.
func fillGoal(t *finding.Totals, log run.CollectorLog, env evidence.Environment) {
	sampled := log.Metric("/gc/heap/goal:bytes")
	switch n, m := len(sampled), len(log.Stats); {
	case n > 0:
		t.Heap.NoGoal = sampled[n-1] >= run.MaxHeap
	case m > 0:
		t.Heap.NoGoal = log.Stats[m-1].NextGC >= run.MaxHeap
	default:
		t.Heap.NoGoal = t.Cycles.Automatic == 0 && env.GOGC == "off" && env.GOMEMLIMIT == "off"
	}
	if t.Heap.NoGoal && t.Cycles.Automatic == 0 {
		t.Heap.Goal = 0
	}
}

// fillMemStats fills in figures from the MemStats of a live service at the start and the end
// of a window, and returns the pauses between. MemStats has one pause a cycle, both of its
// stops together.
func fillMemStats(t *finding.Totals, d *run.Data, env evidence.Environment) []time.Duration {
	first, last := d.Collector.Stats[0], d.Collector.Stats[len(d.Collector.Stats)-1]
	t.Cycles.Logged = true
	var window time.Duration
	if t.Cycles.Automatic, t.Cycles.Forced, window = countedByStats(d); window > 0 {
		t.Cycles.PerSecond = float64(t.Cycles.Automatic) / window.Seconds()
	}
	if told, ok := d.GoalOf(last, env); ok {
		t.Heap.Goal, t.Heap.Live = unit.Bytes(told.Goal), unit.Bytes(told.Live)
	}
	tables, slots := d.Collector.Mapped()
	t.Heap.Tables, t.Heap.Slots = unit.Bytes(tables), unit.Bytes(slots)
	t.Heap.PeakByGoal = true
	// The heap was as large as its goal when a cycle ended, or as the live heap with what the
	// program allocates in a cycle.
	t.Heap.Peak = max(t.Heap.Peak, first.HeapAlloc, last.HeapAlloc, t.Heap.Goal)
	if n := last.NumGC - first.NumGC; n > 0 {
		t.Heap.Peak = max(t.Heap.Peak, t.Heap.Live+(last.TotalAlloc-first.TotalAlloc)/unit.Bytes(n))
	}
	return last.PausesSince(first.NumGC)
}

// countedByStats are the collections between the first and the last MemStats, and the time in which they were.
func countedByStats(d *run.Data) (automatic, forced int, window time.Duration) {
	stats := d.Collector.Stats
	if len(stats) < 2 {
		return 0, 0, 0
	}
	first, last := stats[0], stats[len(stats)-1]
	window = d.Heap.Window
	if d.Collector.Service.Unprofiled {
		window = d.Collector.Service.Stats
	}
	forced = int(last.NumForcedGC - first.NumForcedGC)
	return int(last.NumGC-first.NumGC) - forced, forced, window
}

// why says what decides the rate of collections, in the program's own numbers.
func why(r *runCosts, t finding.Totals) string {
	switch {
	case !r.Collector.Logged && len(r.Collector.Stats) == 0 && len(r.Collector.Metrics) == 0:
		return "not known: needs a gctrace log"
	case t.Cycles.Automatic == 0 && (t.Heap.NoGoal || r.Collector.Gogc() == "off"):
		return "The program has turned collection off (GOGC=off), and no automatic collection ran in the window."
	case t.Cycles.Automatic == 0:
		return "No automatic collection ran in the window."
	case t.Heap.NoGoal:
		return fmt.Sprintf(
			"The program has turned collection off (GOGC=off) before the end of the window. Until then its "+
				"collections let the heap grow from %v live to %v.",
			t.Heap.Live, t.Heap.Goal,
		)
	}
	live, goal := t.Heap.Live, t.Heap.Goal
	if !r.model.known {
		return fmt.Sprintf(
			"The program allocates%s, and each cycle lets the heap grow from %v live to %v.", atRate(t), live, goal,
		)
	}
	pace := fills(t, r.model.marginal.Headroom)
	switch r.model.marginal.Regime {
	case gcmodel.MinimumHeap:
		return fmt.Sprintf(
			"The live heap is so small (%v) that the runtime's minimum heap sets the goal of %v: the program %s.", live,
			goal, pace,
		)
	case gcmodel.MemoryLimit:
		return fmt.Sprintf(
			"The memory limit leaves %s above the %v that are live: the program %s.",
			unit.FormatBytes(r.model.marginal.Headroom), live, pace,
		)
	}
	if low, high := t.Heap.LiveMin, t.Heap.LiveMax; high > 0 {
		return fmt.Sprintf("The live heap changes from %v to %v; where %v are live, GOGC lets the heap grow to %v. The program %s.", low, high, live, goal, pace)
	}
	return fmt.Sprintf("%v are live, so GOGC lets the heap grow to %v: the program %s.", live, goal, pace)
}

// ends are those of the live heap over the cycles, without the outermost tenths; 0 for few cycles, or if it hardly changes.
func ends(live []float64) (low, high unit.Bytes) {
	const much = 1.5
	all := slices.Sorted(slices.Values(live))
	if len(all) < fewCycles {
		return 0, 0
	}
	from, to := all[len(all)/10], all[len(all)-1-len(all)/10]
	if to < much*from {
		return 0, 0
	}
	return unit.Bytes(from), unit.Bytes(to)
}

// fills says how much the program allocates in a cycle: its rate divided by the cycles a
// second that the report shows, so that a reader's own division agrees. If either is not
// known, it is the model's distance between two cycles, in bytes. Few cycles give no rate: their number depends
// on where the window begins.
func fills(t finding.Totals, headroom float64) string {
	if t.Cycles.Automatic < fewCycles && t.BytesPerSecond > 0 {
		return "allocates" + atRate(t)
	}
	if t.BytesPerSecond > 0 && t.Cycles.PerSecond > 0 {
		return fmt.Sprintf("allocates%s, %s in each cycle", atRate(t),
			unit.FormatBytes(t.BytesPerSecond/t.Cycles.PerSecond))
	}
	return fmt.Sprintf("allocates%s and fills %s in each cycle", atRate(t), unit.FormatBytes(headroom))
}

// fewCycles are too few for a rate: the window may have had one more or less.
const fewCycles = 8

func atRate(t finding.Totals) string {
	if t.BytesPerSecond > 0 {
		return fmt.Sprintf(" at %s/s", unit.FormatBytes(t.BytesPerSecond))
	}
	return ""
}

// cyclesOfTiming is the number of automatic collections for the work of the timing pass:
// the log may be of another pass.
func (r *runCosts) cyclesOfTiming() float64 {
	n, l := float64(len(r.Collector.Automatic())), r.Collector
	switch {
	case l.Ops > 0:
		return n * float64(r.CPU.Ops) / float64(l.Ops)
	case r.Bench:
		return n
	case l.Window > 0 && r.CPU.Wall > 0:
		return n * r.CPU.Wall.Seconds() / l.Window.Seconds()
	}
	return n
}

// requestRate is the requests a second of a service, in the pass whose collections are counted; 0 where they are not known.
func (r *runCosts) requestRate() float64 {
	switch l := r.Collector; {
	case r.Bench:
		return 0
	case l.Ops > 0 && l.Window > 0:
		return float64(l.Ops) / l.Window.Seconds()
	case r.CPU.Ops > 0 && r.CPU.Wall > 0:
		return float64(r.CPU.Ops) / r.CPU.Wall.Seconds()
	}
	return 0
}

func ofCollector(b stack.Bucket) bool {
	return stack.BucketInfo[b].Collector || b == stack.BucketAssist
}

// ofTiming is the mean of a figure over the results of the timing passes; 0 without any.
func (r *runCosts) ofTiming(figure func(run.BenchResult) float64) float64 {
	var m run.MeanOf
	for _, b := range r.Results {
		if b.Pass == evidence.PassTiming {
			m.Add(figure(b))
		}
	}
	return m.Mean()
}

// summaries makes the line of each run.
func summaries(runs []*runCosts) []finding.RunSummary {
	var out []finding.RunSummary
	for _, r := range runs {
		s := finding.RunSummary{
			Name: r.Run.Name, Package: r.Run.Package, Ops: r.CPU.Ops, FreshLine: r.Run.CacheMiss,
			CycleCost: r.Run.CycleCost, Retention: finding.Basis{Known: r.model.known, Text: r.model.why},
		}
		s.Pace.NsPerOp = r.ofTiming(func(b run.BenchResult) float64 { return b.NsPerOp })
		s.BytesPerOp = r.ofTiming(func(b run.BenchResult) float64 { return b.BytesPerOp })
		s.AllocsPerOp = r.ofTiming(func(b run.BenchResult) float64 { return b.AllocOp })
		if r.CPU.Ops > 0 {
			s.CyclesPerKiloOp = 1000 * r.cyclesOfTiming() / float64(r.CPU.Ops)
			s.CPUSecondsPerOp = r.cpu.charged * r.CPU.Period / float64(r.CPU.Ops)
		}
		if r.counts.CycleKnown {
			s.CycleScale = r.counts.CycleScale
		}
		if r.cpu.charged > 0 {
			s.MemoryShare, _ = meanShare(
				[]*runCosts{r}, func(b stack.Bucket) bool {
					return stack.BucketInfo[b].Memory &&
						b != stack.BucketMarkIdle
				},
			)
		}
		s.CollectorShare, _ = meanShare([]*runCosts{r}, ofCollector)
		s.RequestsPerSec = r.requestRate()
		if l := r.Collector; r.Bench && l.Ops > 0 {
			s.Pace.CountedNsPerOp = float64(l.Window.Nanoseconds()) / float64(l.Ops)
		}
		out = append(out, s)
	}
	return out
}
