package regrowth

import (
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// mostKept is the part of a row's objects that may be stored in a map as keys, for that to be seldom, and leastEntry
// what an entry at least takes of the tables that such a map makes: a string, and a bit of the value's.
const (
	mostKept   = 0.1
	leastEntry = 24
)

// Fills reports whether a map grows at a place by about as many entries as a finding has objects. Its tables are few,
// and large.
func Fills(d *finding.Diagnosis, of *finding.Finding, file string, line int) bool {
	grown := 0.0
	for _, f := range d.Findings {
		if f.Site.File != file || f.Site.Line != line {
			continue
		}
		for _, r := range slices.Concat(f.ByRun, []finding.RunCost{{Run: f.Run, Cost: f.Cost}}) {
			if r.Run == of.Run {
				grown = max(grown, r.Cost.BytesPerOp.Value)
			}
		}
	}
	return grown > leastEntry*mostKept*of.Cost.ObjectsPerOp.Value
}
