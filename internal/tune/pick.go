package tune

import (
	"fmt"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Pick makes a workload of one run of a bundle: of that name or, for none, of the run that
// took most CPU. The diagnosis adds the collector's share by CPU samples, where the recording
// has one run, and stands in where it has no log of collections; d may be nil.
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
			if d != nil && len(b.Manifest.Runs) == 1 {
				w.Sampled = d.Totals.CollectorShare
			}
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
