package tune

import (
	"fmt"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Pick makes a workload of one run of a bundle: of that name or, for none, of the run that
// whose log covers most CPU time. The diagnosis adds the collector's share by CPU samples, and stands in where
// the recording has no log of collections; d may be nil.
func Pick(b *bundle.Bundle, d *finding.Diagnosis, name string) (Workload, []string, error) {
	ws, notes, err := Read(b)
	if err != nil {
		if d == nil {
			return Workload{}, nil, err
		}
		w, failed := FromDiagnosis(d)
		switch {
		case failed != nil && d.Totals.Heap.PeakByGoal:
			return Workload{}, nil, failed
		case failed != nil:
			return Workload{}, nil, err
		}
		return w, nil, nil
	}
	if name == "" {
		if len(ws) > 1 {
			notes = append(notes, fmt.Sprintf("%d runs have collections to forecast from; this is the one whose log covers most CPU time (-run "+
				"takes another)", len(ws)))
		}
		name = ws[0].Name
	}
	for _, w := range ws {
		if w.Name == name {
			w.Sampled = sampled(d, name)
			w.tell(d)
			if note := w.trustClock(); note != "" {
				notes = append(notes, note)
			}
			return w, notes, nil
		}
	}
	return Workload{}, nil, fmt.Errorf("no run is named %q", name)
}

// tell gives a workload the figures that check reports of its run. The rate of collections is
// then that of the trace, too, so that forecasts of the recorded setting come to it.
func (w *Workload) tell(d *finding.Diagnosis) {
	if d == nil || !onlyRun(d, w.Name) || d.Totals.Run != w.Name || d.Totals.Cycles.PerSecond <= 0 {
		return
	}
	w.Told = &d.Totals
	n := len(w.Trace.Points) - d.Totals.Cycles.Forced
	if !w.Trace.Whole {
		n--
	}
	wall := float64(n) / d.Totals.Cycles.PerSecond
	if math.Abs(wall-w.Trace.Wall) < mostApart*w.Trace.Wall {
		w.Trace.Wall = wall
	}
}

// mostApart is how far the length of a trace may be from that by the rate of collections: the
// window begins and ends within cycles. Beyond that, the rate is corrected for the profile.
const mostApart = 0.1

// onlyRun reports whether a diagnosis has one run of a name.
func onlyRun(d *finding.Diagnosis, name string) bool {
	n := 0
	for _, r := range d.Runs {
		if r.Name == name {
			n++
		}
	}
	return n == 1
}

// sampled is the collector's share in the run of a name, by CPU samples; zero if that is not known, or of several.
func sampled(d *finding.Diagnosis, name string) stats.Interval {
	if d == nil || !onlyRun(d, name) {
		return stats.Interval{}
	}
	return d.Runs[slices.IndexFunc(d.Runs, func(r finding.RunSummary) bool { return r.Name == name })].CollectorShare
}

// Limit is the constraint that a recording names: the memory limit of its container.
func Limit(e evidence.Environment) Constraint {
	if e.CgroupLimit <= 0 {
		return Constraint{Burst: 1}
	}
	return Constraint{Max: unit.Bytes(e.CgroupLimit), Source: "the container of the recording", Burst: 1}
}
