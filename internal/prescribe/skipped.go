package prescribe

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/waste"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// unusedWork names the rule of lines that allocate nothing themselves.
const unusedWork = "work that is not used"

// skipped is the row of a line whose work is not needed.
func skipped(lc waste.Line) finding.Row {
	f := &finding.Finding{
		Title: "work that is not used", Site: lc.Site, Run: lc.Run,
		Cost: finding.Cost{CPU: lc.CPU, BytesPerOp: stats.Exact(lc.BytesPerOp), ObjectsPerOp: stats.Exact(lc.ObjectsPerOp)},
	}
	// Other calls on the line may be needed, so none of it may be saved.
	saves := finding.Prediction{
		CPU:        stats.Interval{Value: lc.CPU.Value, Low: 0, High: math.Max(lc.CPU.High, lc.CPU.Value)},
		BytesPerOp: stats.Exact(lc.BytesPerOp), ObjectsPerOp: stats.Exact(lc.ObjectsPerOp),
		Basis: "the whole cost of the line and its callees; the rows of the lines below count it too",
	}
	remedy := remedyOf(cures.Of(cures.SkipWork), proposal{Text: lc.Text, Rule: unusedWork, Fit: cures.HitRate(cures.SkipWork, unusedWork), Why: "cost of the line with all that it calls"}, saves)
	return finding.Row{Finding: f, Remedy: remedy}
}
