package tune

import (
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Pick makes a workload of one run of a bundle: of that name or, for none, of the run that
// took most CPU. The diagnosis adds the collector's share by CPU samples, and stands in where
// the recording has no log of collections; d may be nil.
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
		name = ws[0].Name
	}
	for _, w := range ws {
		if w.Name == name {
			w.Sampled = sampled(d, name)
			return w, notes, nil
		}
	}
	return Workload{}, nil, fmt.Errorf("no run is named %q", name)
}

// sampled is the collector's share in the run of a name, by CPU samples; zero if that is not known, or of several.
func sampled(d *finding.Diagnosis, name string) stats.Interval {
	if d == nil {
		return stats.Interval{}
	}
	of := func(r finding.RunSummary) bool { return r.Name == name }
	i := slices.IndexFunc(d.Runs, of)
	if i < 0 || slices.ContainsFunc(d.Runs[i+1:], of) {
		return stats.Interval{}
	}
	return d.Runs[i].CollectorShare
}

// Limit is the constraint that a recording names: the memory limit of its container.
func Limit(e evidence.Environment) Constraint {
	if e.CgroupLimit <= 0 {
		return Constraint{Burst: 1}
	}
	return Constraint{Max: unit.Bytes(e.CgroupLimit), Source: "the container of the recording", Burst: 1}
}
