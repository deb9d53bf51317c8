package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// savedText is a predicted saving in words; empty when nothing is known.
func savedText(p finding.Prediction, k known) string {
	var parts []string
	if k.cpu && measured(p.CPU) {
		parts = append(parts, term.SharePercent(p.CPU)+" of CPU")
	}
	return strings.Join(append(parts, savedAmounts(p)...), ", ")
}

// leastCycles is the smallest share of cycles whose saving is shown.
const leastCycles = 0.005

// savedAmounts are what a prediction saves in each operation.
func savedAmounts(p finding.Prediction) []string {
	var parts []string
	if term.Some(p.BytesPerOp.Value) {
		parts = append(parts, unit.FormatBytes(p.BytesPerOp.Value)+"/op")
	}
	if term.Some(p.ObjectsPerOp.Value) {
		parts = append(parts, unit.FormatScaled(p.ObjectsPerOp.Value)+term.Plural(p.ObjectsPerOp.Value, " object")+
			"/op")
	}
	if p.Cycles.Value >= leastCycles {
		parts = append(parts, term.SharePercent(p.Cycles)+" of the cycles")
	}
	return parts
}

// savings is the saving of a finding's cure: as a share of CPU if CPU was sampled, else in
// the finest known amount of bytes.
func (k known) savings(f finding.Row) stats.Interval {
	switch bytes, _ := k.amounts(f.Cost); {
	case k.cpu:
		return f.Remedy.Saves.CPU
	case len(f.Cuts) > 0:
		return bytes.Scale(f.BytesCut())
	case k.perOp:
		return f.Remedy.Saves.BytesPerOp
	}
	return stats.Interval{}
}

// outlook is the headline's sentence on the cures: the saving of the first, and of all
// together. It is empty when there are none.
func outlook(rep *finding.Report, k known) string {
	first, cures, cuts := counted(rep.Prescription.Rows)
	if first == nil {
		return ""
	}
	one := savedHeadline(first.Remedy.Saves, k)
	if one == "" {
		return ""
	}
	text := "By prediction, the first cure saves " + one
	if all := savedHeadline(rep.Prescription.Together, k); all != "" && k.cpu && cuts > 1 {
		which := fmt.Sprintf("all %d together", cuts)
		if cuts < cures {
			which = fmt.Sprintf("%d of %d together", cuts, cures)
		}
		return text + ", " + which + " " + all + "."
	}
	return text + "."
}

// counted returns the first row with a cure, nil if there is none, how many rows have one, and how many of these
// the saving of all together counts.
func counted(rows []finding.Row) (first *finding.Row, cures, cuts int) {
	for i := range rows {
		f := &rows[i]
		if !cured(*f) {
			continue
		}
		cures++
		if first == nil {
			first = f
		}
		if len(f.Cuts) > 0 {
			cuts++
		}
	}
	return first, cures, cuts
}

// besideText names the part of a saving that no sample of memory management shows.
const besideText = "in the program's own code, by fewer cache misses"

// leastBeside is the share of CPU from which that part is told apart.
const leastBeside = 0.0005

// parted tells what a change saves of memory management from what it saves beside, which is
// 0 where it is too little to tell.
func parted(p finding.Prediction) (here stats.Interval, beside float64) {
	if p.Caches.Value < leastBeside {
		return p.CPU, 0
	}
	shift := p.Caches.Value
	return stats.Interval{Value: p.CPU.Value - shift, Low: p.CPU.Low - shift, High: p.CPU.High - shift}.Clip(0, 1), shift
}

// besideRemark says of a row that saves more than it costs where the rest comes from.
func besideRemark(f finding.Row) string {
	here, beside := parted(f.Remedy.Saves)
	if beside == 0 || !savesMore(f) {
		return ""
	}
	return fmt.Sprintf(" (%s %% in memory management, +%s %s)", term.Percent(here.Value), term.Percent(beside), besideText)
}

// savedHeadline is the saving in one figure.
func savedHeadline(p finding.Prediction, k known) string {
	switch {
	case k.cpu && measured(p.CPU):
		text := term.SharePercent(p.CPU) + " of CPU"
		if _, beside := parted(p); beside > 0 {
			text += " (" + term.Percent(beside) + " % " + besideText + ")"
		}
		return text
	case !k.cpu && term.Some(p.BytesPerOp.Value):
		return unit.FormatBytes(p.BytesPerOp.Value) + "/op"
	}
	return ""
}

// findingsShown says of a table of at most top rows how many findings it has, how many it has
// not, and what shows them; empty when it has all. flags are those that show the first n
// findings, with those below the threshold or without.
func findingsShown(rep *finding.Report, top int, flags func(n int, below bool) string) string {
	rows, below := len(rep.Prescription.Rows), max(rep.Prescription.Below, 0)
	shown := min(top, rows)
	if shown == rows+below {
		return ""
	}
	text := fmt.Sprintf("%d of %d%s shown.", shown, rows+below, term.Plural(float64(rows+below), " finding"))
	if n := rows - shown; n > 0 {
		text += fmt.Sprintf(" %d more: %s.", n, flags(rows, false))
	}
	if below > 0 {
		text += fmt.Sprintf(" %d below the threshold", below)
		if t := rep.Prescription.Threshold; term.Some(t) && t <= 1 {
			text += " of " + strconv.FormatFloat(100*t, 'g', 3, 64) + " %"
		}
		text += ": " + flags(rows+below, true) + "."
	}
	return text
}

// advice is the section on remedies that belong to no line.
func advice(p *term.Page, rep *finding.Report, k known) {
	if len(rep.Advice) == 0 {
		return
	}
	p.Section("For the program as a whole", "")
	for _, a := range rep.Advice {
		saves := ""
		if s := savedText(a.Remedy.Saves, k); s != "" {
			saves = "  saves " + s
		}
		p.Line(term.Styled("  "+tag(a.Remedy.Code)+a.Title, term.Bold), term.Styled(saves, term.Normal))
		p.Prose("      ", term.FullSentence(a.Remedy.Text), term.Normal)
		if why := because(a.Remedy.Why, a.Remedy.Saves.Basis); why != "" {
			p.Prose("      ", why, term.Dim)
		}
	}
}

// because joins the evidence for a remedy and the basis of its prediction.
func because(why, basis string) string {
	var parts []string
	if why != "" {
		parts = append(parts, term.FullSentence(why))
	}
	if basis != "" {
		parts = append(parts, "Prediction: "+basis+".")
	}
	return strings.Join(parts, " ")
}

// shownRules bounds the section of source rules.
const shownRules = 15

// rules is the section on findings of the source rules on hot lines.
func rules(p *term.Page, hits []finding.RuleHit, k known) {
	if len(hits) == 0 {
		return
	}
	shown := hits[:min(shownRules, len(hits))]
	remark := "costs of the line and its callees"
	if n := len(hits); n > len(shown) {
		remark = fmt.Sprintf("the first %d of %d; ", len(shown), n) + remark
	}
	p.Section("Source rules on hot lines", remark)
	cpu, bytes := term.NewColumn("CPU %", false), term.NewColumn("bytes %", true)
	where, function := term.NewColumn("where", false), term.NewColumn("function", false)
	where.Style, cpu.Style = term.Cyan, term.Bold
	t := &term.Table{Columns: []*term.Column{bytes, where, function}, Path: where, Function: function, Head: "rule"}
	if k.cpu {
		t.Columns = append([]*term.Column{cpu}, t.Columns...)
	}
	for _, h := range shown {
		cpu.Add(term.PadLeft(term.Percent(h.Cost.CPU.Value), 5) + term.PlusMinus(h.Cost.CPU))
		bytes.Add(term.Percent(h.Cost.BytesShare))
		where.Add(place(h.Cost.Site))
		function.Add(shortName(h.Cost.Site.Function))
		t.Remarks = append(t.Remarks, tag(h.Code)+h.Message)
	}
	t.Write(p)
}
