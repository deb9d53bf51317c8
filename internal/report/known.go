package report

import (
	"fmt"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// known says which columns the evidence supports. A zero in a column that is
// known is a measured zero; in one that is not, nothing was measured.
type known struct {
	cpu       bool // CPU was sampled
	allocated bool // bytes and objects of sites
	perOp     bool // … per operation
	perSecond bool
	churn     bool
	retention bool
	inUse     bool
	cures     bool // a remedy is named for any finding

	noRetention []string // runs whose retention is not known, though that of others is
}

// knownOf looks at all findings: a column that is zero in every one of them
// carries no evidence.
func knownOf(rep *finding.Report) known {
	k := known{cpu: rep.Diagnosis.Totals.CPUSeconds > 0 || rep.Diagnosis.Totals.Samples >= finding.FewSamples}
	for _, f := range everyRow(rep) {
		k.cures = k.cures || cure(f) != ""
		c := f.Cost
		k.perOp = k.perOp || measured(c.BytesPerOp) || measured(c.ObjectsPerOp)
		k.perSecond = k.perSecond || measured(c.BytesPerSecond) || measured(c.ObjectsPerSecond)
		k.allocated = k.allocated || measured(c.Bytes)
		k.inUse = k.inUse || measured(c.InUse)
		k.churn = k.churn || measured(c.Churn)
		k.retention = k.retention || measured(c.Retention)
	}
	k.allocated = k.allocated || k.perOp || k.perSecond
	k.churn = k.churn || k.cpu && k.allocated
	k.retention = k.retention || k.cpu && rep.Diagnosis.Totals.Retention.Known
	for _, r := range rep.Diagnosis.Runs {
		if !r.Retention.Known && r.Retention.Text != "" {
			k.noRetention = append(k.noRetention, r.Name)
		}
	}
	return k
}

// in says which columns are known of a cost in a run.
func (k known) in(run string, c finding.Cost) known {
	k.retention = k.retention && (measured(c.Retention) || !slices.Contains(k.noRetention, run))
	return k
}

// lacksCPU says why shares of CPU are not known.
func lacksCPU(t finding.Totals) string {
	if n := t.Samples; n > 0 {
		return fmt.Sprintf("the CPU profile has only %d%s", n, term.Plural(float64(n), " sample"))
	}
	return "needs a CPU profile"
}

// everyRow returns the ranked rows and those that are excluded.
func everyRow(rep *finding.Report) []finding.Row {
	all := slices.Clone(rep.Prescription.Rows)
	for i := range rep.Diagnosis.Excluded {
		all = append(all, finding.Unranked(&rep.Diagnosis.Excluded[i]))
	}
	return all
}

// measured reports whether an interval is not the zero that means "not known".
func measured(i stats.Interval) bool { return i != stats.Interval{} && schema.Finite(i.Value) }

// rankedBy is the quantity that the findings are ranked by: the saving of their cures, or
// their cost if no cures are named. It is false for a finding without a change.
func (k known) rankedBy(f finding.Row) (stats.Interval, bool) {
	if k.cures {
		return k.savings(f), cured(f)
	}
	if k.cpu {
		return f.Cost.Share(), true
	}
	bytes, _ := k.amounts(f.Cost)
	return bytes, true
}

// amounts are the bytes and objects of a cost in the finest form that is known: per
// operation, per second, or of the whole profile.
func (k known) amounts(c finding.Cost) (bytes, objects stats.Interval) {
	switch {
	case k.perOp:
		return c.BytesPerOp, c.ObjectsPerOp
	case k.perSecond:
		return c.BytesPerSecond, c.ObjectsPerSecond
	}
	return c.Bytes, c.Objects
}

// per is the suffix of amounts.
func (k known) per() string {
	switch {
	case k.perOp:
		return "/op"
	case k.perSecond:
		return "/s"
	}
	return ""
}

// allocates reports whether any finding has bytes in the run.
func allocates(rep *finding.Report, run string) bool {
	for _, f := range everyRow(rep) {
		for _, r := range f.ByRun {
			if r.Run == run && r.Cost.BytesPerOp.Value > 0 {
				return true
			}
		}
		if f.Run == run && f.Cost.BytesPerOp.Value > 0 {
			return true
		}
	}
	return false
}

// perOpKnown reports whether a run's bytes and allocations per operation are
// known. Both zero is a true figure of a benchmark that was timed, unless a
// finding allocates in it.
func perOpKnown(rep *finding.Report, r finding.RunSummary) bool {
	if !schema.Finite(r.BytesPerOp) || !schema.Finite(r.AllocsPerOp) {
		return false
	}
	if r.BytesPerOp > 0 || r.AllocsPerOp > 0 {
		return true
	}
	return r.Pace.NsPerOp > 0 && r.Ops > 0 && !allocates(rep, r.Name)
}
