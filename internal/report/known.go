package report

import (
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// known says which columns the evidence bears. A zero in a column that is
// known is a measured zero; in one that is not, nothing was measured.
type known struct {
	cpu       bool // CPU was sampled
	allocated bool // bytes and objects of sites
	perOp     bool // … per operation
	churn     bool
	retention bool
	inUse     bool
}

// knownOf looks at all findings: a column that is zero in every one of them
// carries no evidence.
func knownOf(d *diagnose.Diagnosis) known {
	k := known{cpu: d.Totals.CPUSeconds > 0 || d.Totals.Samples > 0}
	for _, all := range [][]diagnose.Finding{d.Findings, d.SetApart} {
		for _, f := range all {
			c := f.Cost
			k.perOp = k.perOp || measured(c.BytesPerOp) || measured(c.ObjectsPerOp)
			k.allocated = k.allocated || measured(c.BytesPerSecond) || measured(c.ObjectsPerSecond)
			k.inUse = k.inUse || measured(c.InUse)
			k.churn = k.churn || measured(c.Churn)
			k.retention = k.retention || measured(c.Retention)
		}
	}
	k.allocated = k.allocated || k.perOp
	k.churn = k.churn || k.cpu && k.allocated
	basis := d.Totals.RetentionBasis
	k.retention = k.retention || k.cpu && basis != "" && !strings.HasPrefix(basis, "not known")
	return k
}

// measured reports whether an interval is more than the zero that stands for
// "not known".
func measured(i stats.Interval) bool { return i != stats.Interval{} && finite(i.Value) }

// rankedBy is the quantity that the findings are ranked by.
func (k known) rankedBy(f diagnose.Finding) stats.Interval {
	switch {
	case k.cpu:
		return f.Cost.CPU
	case k.perOp:
		return f.Cost.BytesPerOp
	}
	return f.Cost.BytesPerSecond
}

// allocates reports whether any finding has bytes in the run.
func allocates(d *diagnose.Diagnosis, run string) bool {
	for _, all := range [][]diagnose.Finding{d.Findings, d.SetApart} {
		for _, f := range all {
			for _, r := range f.ByRun {
				if r.Run == run && r.Cost.BytesPerOp.Value > 0 {
					return true
				}
			}
			if f.Run == run && f.Cost.BytesPerOp.Value > 0 {
				return true
			}
		}
	}
	return false
}

// perOpKnown reports whether a run's bytes and allocations per operation are
// known. Both zero is a true figure of a benchmark that was timed, unless a
// finding allocates in it.
func perOpKnown(d *diagnose.Diagnosis, r diagnose.RunSummary) bool {
	if !finite(r.BytesPerOp) || !finite(r.AllocsPerOp) {
		return false
	}
	if r.BytesPerOp > 0 || r.AllocsPerOp > 0 {
		return true
	}
	return r.NsPerOp > 0 && r.Ops > 0 && !allocates(d, r.Name)
}
