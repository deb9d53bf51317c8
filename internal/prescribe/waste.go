package prescribe

import (
	"fmt"
	"math"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// wasted says why an expression's work is unnecessary; "" where it is not known to be.
func wasted(d *finding.Diagnosis, l *source.Line, e *source.Expr, file string) string {
	switch e.Kind {
	case source.Call, source.Literal, source.Concat, source.Conversion, source.Make:
	default:
		return ""
	}
	f := l.FlowOf(e)
	switch {
	case f == nil:
		return ""
	case f.Fixed && source.Pure(e.Call.Callee):
		return fmt.Sprintf("call %s once before the loop of line %d: its arguments are the same in every iteration", shortName(e.Call.Callee), f.FixedLoop)
	case f.Again != 0 && source.Pure(e.Call.Callee):
		return fmt.Sprintf("keep the result of %s in line %d: it is called again with the same arguments", shortName(e.Call.Callee), f.Again)
	case f.Partly && e.Use.Kind == source.UseAssigned:
		used, unused := heaviestOf(d, file, f.Used), heaviestOf(d, file, f.Unused)
		if used > 0 || unused == 0 && !f.Failed {
			return ""
		}
		return fmt.Sprintf("make `%s` only where it is used: the branch that the program takes does not use it", e.Use.Name)
	}
	return ""
}

// heaviestOf is the largest cost of any of the lines, as a share of CPU or of
// bytes.
func heaviestOf(d *finding.Diagnosis, file string, lines []int) float64 {
	most := 0.0
	for _, l := range d.Lines {
		if l.Site.File == file && slices.Contains(lines, l.Site.Line) {
			most = max(most, l.CPU.Value, l.BytesShare)
		}
	}
	return most
}

// hotLine is the share of CPU or bytes of a line, callees included, from which its source is
// read.
const hotLine = 0.01

// skippable finds the lines that allocate nothing themselves but call for work
// that is not needed.
func skippable(d *finding.Diagnosis, src *source.Program) []finding.Row {
	if src == nil {
		return nil
	}
	sites := map[string]bool{}
	key := func(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }
	for _, f := range d.Findings {
		sites[key(f.Site.File, f.Site.Line)] = true
	}
	var out []finding.Row
	for _, lc := range d.Lines[:min(len(d.Lines), readFindings)] {
		if max(lc.CPU.Value, lc.BytesShare) < hotLine || sites[key(lc.Site.File, lc.Site.Line)] {
			continue
		}
		l := src.At(lc.Site.File, lc.Site.Line)
		if l == nil {
			continue
		}
		for _, e := range l.Exprs {
			if text := wasted(d, l, e, lc.Site.File); text != "" {
				out = append(out, skipped(lc, text))
				break
			}
		}
	}
	return out
}

// unusedWork names the rule of lines that allocate nothing themselves.
const unusedWork = "work that is not used"

// skipped is the row of a line whose work is not needed.
func skipped(lc finding.LineCost, text string) finding.Row {
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
	remedy := remedyOf(cureOf(cures.SkipWork), proposal{Text: text, Rule: unusedWork, Fit: cures.HitRate(cures.SkipWork, unusedWork), Why: "cost of the line with all that it calls"}, saves)
	return finding.Row{Finding: f, Remedy: remedy}
}
