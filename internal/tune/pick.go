package tune

import (
	"fmt"
	"math"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Pick makes a workload of one run of a bundle: of that name or, for none, of the run that
// took most CPU. Of a recording without a log of collections it takes what the diagnosis
// knows; d may be nil.
func Pick(b *bundle.Bundle, d *finding.Diagnosis, name string) (Workload, []string, error) {
	ws, notes, err := Read(b)
	if err != nil {
		if d == nil {
			return Workload{}, nil, err
		}
		w, failed := FromDiagnosis(d)
		if failed != nil {
			return Workload{}, nil, err
		}
		return w, nil, nil
	}
	if name == "" {
		if len(ws) > 1 {
			notes = append(notes, fmt.Sprintf("the recording has %d runs; this is the one that took most CPU (-run "+
				"takes another)", len(ws)))
		}
		w := ws[0]
		if d != nil && len(ws) == 1 {
			w.Sampled = d.Totals.CollectorShare
		}
		return w, notes, nil
	}
	for _, w := range ws {
		if w.Name == name {
			return w, notes, nil
		}
	}
	return Workload{}, nil, fmt.Errorf("no run is named %q", name)
}

// Limit is the constraint that a recording names: the memory limit of its container.
func Limit(e evidence.Environment) Constraint {
	if e.CgroupLimit <= 0 {
		return Constraint{Burst: 1}
	}
	return Constraint{Max: unit.Bytes(e.CgroupLimit), Source: "the container of the recording", Burst: 1}
}

// SavedBy is what a setting saves of the collector's share that the profile shows: the part
// of the collector's CPU that goes by the forecast. What fewer cycles save the program's own
// code is not in it.
func SavedBy(share stats.Interval, now, then gcmodel.Forecast) stats.Interval {
	gone := func(was, is float64) float64 {
		was, is = was*now.CPU.Value, is*then.CPU.Value
		if was <= 0 {
			return 0
		}
		return math.Max(0, 1-is/was)
	}
	return stats.Interval{
		Value: share.Value * gone(now.Collector.Value, then.Collector.Value),
		Low:   share.Low * gone(now.Collector.Low, then.Collector.High),
		High:  share.High * gone(now.Collector.High, then.Collector.Low),
	}
}
