package tune

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
)

// trustClock holds the collector's clock against the CPU samples, and says so where it is wrong.
// The clock goes on while other programs have the processors: a pause that waits for one counts
// for all of them. It sees less of the collector's work than the samples do, so a share above
// theirs is such waiting, and the times of all cycles are reduced to what the samples show. Where
// there are no samples, they are reduced as the whole of the runtime's clocks.
func (w *Workload) trustClock() string {
	clock := measuredOf(*w).Collector
	switch {
	case w.Capacity || w.Means:
		return ""
	case w.Sampled.Value <= 0 && w.waited > 0:
		scaleTimes(w.Trace, w.waited)
		if w.waited > 1/clockNoise {
			return ""
		}
		return fmt.Sprintf("the runtime's clocks count %s of the CPU time that the program had: they go on while other programs have "+
			"the processors, so the collector's times are reduced from %s of CPU to %s; record on an idle machine for better forecasts",
			percent(1/w.waited), percent(clock), percent(measuredOf(*w).Collector))
	case w.Sampled.Value <= 0 || clock <= max(w.Sampled.High, clockNoise*w.Sampled.Value):
		return ""
	}
	// Idle marking is reduced, too, and is no part of the CPU time that shares are of.
	idle := measuredOf(*w).Idle
	scaleTimes(w.Trace, w.Sampled.Value*(1+idle)/(clock+w.Sampled.Value*idle))
	w.Reduced = true
	return fmt.Sprintf("gctrace's clock counts %s of the program's CPU time for the collector, CPU samples %s: the clock goes on while "+
		"other programs have the processors, so its times are reduced to what the samples show; record on an idle machine for "+
		"better forecasts", percent(clock), percent(w.Sampled.Value))
}

// clockNoise is how far the clock may be above the samples: a pause counts for all processors,
// idle or not.
const clockNoise = 1.2

// scaleTimes multiplies what the collector's clock counts, in all cycles.
func scaleTimes(t *gcmodel.Trace, k float64) {
	for i := range t.Points {
		p := &t.Points[i]
		p.Background, p.Assist, p.Idle, p.Pause = p.Background*k, p.Assist*k, p.Idle*k, p.Pause*k
	}
}
