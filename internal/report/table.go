package report

import (
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// siteTable has what sites cost, in the columns that the page has room for.
func siteTable(findings []finding.Row, k known, width int) *term.Table {
	cpu, gc := term.NewColumn("CPU %", false), term.NewColumn("by GC", true)
	bytes, objects := term.NewColumn("B"+k.per(), true), term.NewColumn("objs"+k.per(), true)
	lives, where, function := term.NewColumn("lives", false), term.NewColumn("where", false), term.NewColumn("function",
		false)
	where.Style, cpu.Style = term.Cyan, term.Bold
	t := &term.Table{Path: where, Function: function}
	for _, f := range findings {
		c := f.Cost
		b, o := k.amounts(c)
		cpu.Add(costCell(c))
		gc.Add(term.Percent(c.Assist.Value + c.Churn.Value + c.Retention.Value))
		bytes.Add(term.Amount(b.Value, unit.FormatBytes))
		objects.Add(term.Amount(o.Value, unit.FormatScaled))
		lives.Add(lifeWord(f.Lifetime.Class))
		where.Add(place(f.Site))
		function.Add(shortName(f.Site.Function))
		t.Remarks = append(t.Remarks, strings.TrimSpace(f.Title))
	}
	if k.cpu {
		t.Columns = append(t.Columns, cpu)
		if width >= 100 && k.churn {
			t.Columns = append(t.Columns, gc)
		}
	}
	t.Columns = append(t.Columns, bytes, objects)
	if width >= 100 {
		t.Columns = append(t.Columns, lives)
	}
	t.Columns = append(t.Columns, where, function)
	return t
}

// lifeWord is the lifetime class in one word.
func lifeWord(c finding.LifetimeClass) string {
	switch c {
	case finding.LifetimeUnknown, "":
		return term.Dash
	case finding.LifetimeCycle:
		return "cycle"
	case finding.LifetimeLeak:
		return "leak?"
	}
	return string(c)
}

// excluded is the table of what the user would not change.
func excluded(p *term.Page, rep *finding.Report, k known) {
	if len(rep.Diagnosis.Excluded) == 0 {
		return
	}
	var shown []finding.Row
	for i := range min(shownApart, len(rep.Diagnosis.Excluded)) {
		shown = append(shown, finding.Unranked(&rep.Diagnosis.Excluded[i]))
	}
	remark := "not ranked with the others"
	if n := len(rep.Diagnosis.Excluded); n > len(shown) {
		remark += fmt.Sprintf("; the first %d of %d", len(shown), n)
	}
	p.Section("Excluded", remark)
	t := siteTable(shown, k, p.Width)
	t.Write(p)
}

// runs is the table of benchmarks, or of the service's window.
func runs(p *term.Page, rep *finding.Report) {
	if len(rep.Diagnosis.Runs) == 0 {
		return
	}
	shown := rep.Diagnosis.Runs[:min(shownRuns, len(rep.Diagnosis.Runs))]
	name, time, bytes, allocs := term.NewColumn("run", false), term.NewColumn("time/op", true), term.NewColumn("B/op",
		true),
		term.NewColumn("allocs/op", true)
	cycles, rate, memory := term.NewColumn("GCs/1000 ops", true), term.NewColumn("requests/s", true), term.NewColumn(
		"memory % of CPU", false,
	)
	t := &term.Table{Path: name}
	for _, r := range shown {
		name.Add(r.Name)
		time.Add(term.Amount(r.Pace.NsPerOp, unit.FormatNanoseconds))
		b, n := term.Dash, term.Dash
		if perOpKnown(rep, r) {
			b, n = unit.FormatBytes(r.BytesPerOp), unit.FormatScaled(r.AllocsPerOp)
		}
		bytes.Add(b)
		allocs.Add(n)
		cycles.Add(term.Amount(r.CyclesPerKiloOp, unit.FormatCount))
		rate.Add(term.Amount(r.RequestsPerSec, unit.FormatScaled))
		share := term.Dash
		if measured(r.MemoryShare) {
			share = term.PadLeft(term.Percent(r.MemoryShare.Value), 5) + term.PlusMinus(r.MemoryShare)
		}
		memory.Add(share)
		t.Remarks = append(t.Remarks, "")
	}
	for _, c := range []*term.Column{time, bytes, allocs, cycles, rate, memory} {
		if c.Tells() {
			t.Columns = append(t.Columns, c)
		}
	}
	if len(t.Columns) == 0 {
		return
	}
	t.Columns = append([]*term.Column{name}, t.Columns...)
	p.Section("Runs", "")
	t.Write(p)
	if n := len(rep.Diagnosis.Runs); n > len(shown) {
		p.Line(term.Styled(fmt.Sprintf("  … and %d more in the JSON report", n-len(shown)), term.Dim))
	}
	if text := otherPace(shown); text != "" {
		p.Prose("  ", text, term.Dim)
	}
}

// otherPace says of a run whose operations took another time where its collections were counted; "" if there is none. Rates
// a second are of that pass.
func otherPace(runs []finding.RunSummary) string {
	const much = 1.25
	for _, r := range runs {
		if r.Pace.NsPerOp <= 0 || r.Pace.CountedNsPerOp <= 0 || max(r.Pace.NsPerOp/r.Pace.CountedNsPerOp, r.Pace.CountedNsPerOp/r.Pace.NsPerOp) < much {
			continue
		}
		return fmt.Sprintf("time/op is of a pass without profiles. An operation of %s took %s in the pass whose collections are counted, with what "+
			"the timer leaves out; amounts and cycles a second are of that.", term.Clean(r.Name), unit.FormatNanoseconds(r.Pace.CountedNsPerOp))
	}
	return ""
}
