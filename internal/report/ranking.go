package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// ranking is the ranked table.
func ranking(p *term.Page, rep *finding.Report, k known, o TextOptions) {
	shown := rep.Prescription.Rows[:min(o.Top, len(rep.Prescription.Rows))]
	title, remark := "What to change", ""
	if len(shown) > 0 && !k.cures {
		title = "What costs most"
	}
	if n := len(rep.Prescription.Rows) + rep.Prescription.Below; n > len(shown) && len(shown) > 0 {
		remark = fmt.Sprintf("the first %d of %d", len(shown), n)
	}
	p.Section(title, remark)
	hidden := findingsShown(rep, o.Top, tableFlags(o.Top))
	if len(shown) == 0 {
		p.Prose("  ", "No allocation site of your code has a notable cost in this recording.", term.Normal)
		p.Prose("  ", hidden, term.Normal)
		return
	}
	all := first(rep, len(shown))
	tie(all, k.rankedBy)
	t := cureTable(all, k, p.Width)
	ranks := rankColumn(all)
	t.Columns = append([]*term.Column{ranks}, t.Columns...)
	t.Write(p)
	p.Prose("  ", hidden, term.Normal)
	for _, note := range notes(rep, k, ranks) {
		p.Prose("  ", note, term.Dim)
	}
}

// tableFlags are the flags that make a table of top rows show more.
func tableFlags(top int) func(n int, below bool) string {
	return func(n int, below bool) string {
		var flags []string
		if below {
			flags = append(flags, "-threshold 0")
		}
		if n > top {
			flags = append(flags, fmt.Sprintf("-top %d", n))
		}
		return strings.Join(flags, " ")
	}
}

// A mark beside a rank.
const tiedMark = "=" // its interval overlaps with that of the row above

// rankColumn numbers the rows and marks them.
func rankColumn(all []entry) *term.Column {
	c := term.NewColumn("# ", true)
	c.Style = term.Bold
	for _, e := range all {
		mark := e.mark
		if mark == "" {
			mark = " "
		}
		if e.lines > 0 {
			c.Add(mark)
			continue
		}
		c.Add(fmt.Sprint(e.row.Rank) + mark)
	}
	return c
}

// marked reports whether any cell of a column ends with a mark.
func marked(c *term.Column, mark string) bool {
	return slices.ContainsFunc(c.Cells, func(s string) bool { return strings.HasSuffix(s, mark) })
}

// savesMore reports whether a finding's cure saves clearly more than the finding
// costs.
func savesMore(f finding.Row) bool {
	return f.Cost.CPU.Value > 0 && f.Remedy.Saves.CPU.Value > 1.1*f.Cost.CPU.Value
}

// whyMore explains savings beyond the row's cost.
func whyMore(rep *finding.Report) string {
	const headroom = "where there are fewer cycles, the memory that other rows keep alive is marked less often, too"
	if slices.ContainsFunc(
		rep.Prescription.Rows, func(f finding.Row) bool { return savesMore(f) && f.Remedy.Saves.Caches.Value > 0 },
	) {
		return headroom + ", and a row's fresh memory and its collections slow down other code, mostly " +
			"through cache misses"
	}
	return headroom
}

// savingsAbove says why a cure can save more than its row costs; "" if none does.
func savingsAbove(rep *finding.Report, k known) string {
	plain := func(f finding.Row) bool { // the remark beside the cure does not explain the whole difference
		here, _ := parted(f.Remedy.Saves)
		return savesMore(f) && here.Value > f.Cost.CPU.Value
	}
	if !k.cpu || !slices.ContainsFunc(rep.Prescription.Rows, plain) {
		return ""
	}
	return "A cure can save more than its row costs: " + whyMore(rep) + "."
}

// sumsOfLines explains the rows of functions; "" if there are none.
func sumsOfLines(rep *finding.Report) string {
	if len(rep.Prescription.Functions) == 0 {
		return ""
	}
	return "A function with several lines comes first with what they save together. That is not the sum: " +
		"the number of collections does not fall linearly with allocation."
}

// notes explain the columns and marks that the table uses.
func notes(rep *finding.Report, k known, ranks *term.Column) []string {
	var out []string
	switch {
	case k.cures && k.cpu:
		out = append(
			out, "saves: predicted saving of the cure; costs: what the line costs now. Both in % of CPU "+
				"time.",
		)
	case k.cures:
		out = append(
			out, "saves: predicted saving of the cure. Shares of CPU are not known: "+lacksCPU(rep.Diagnosis.Totals)+".",
		)
	case !k.cpu:
		out = append(out, "Cost in CPU is not known: "+lacksCPU(rep.Diagnosis.Totals)+". The order is by bytes.")
	}
	for _, n := range []string{savingsAbove(rep, k), sumsOfLines(rep)} {
		if n != "" {
			out = append(out, n)
		}
	}
	if marked(ranks, tiedMark) {
		out = append(out, "= may be as large as the row above, by the ± shown.")
	}
	if len(rep.Diagnosis.Runs) > 1 {
		out = append(
			out,
			fmt.Sprintf(
				"Shares are means over the %d runs; amounts are those of the run where the row costs most.",
				len(rep.Diagnosis.Runs),
			),
		)
	}
	if r := rep.Diagnosis.Totals.Remainder; k.churn && measured(r) && r.Value >= leastRow {
		out = append(
			out,
			fmt.Sprintf(
				"Unattributed collector cost: %s, of live memory that no heap profile shows. The cost of stacks, globals and "+
					"each cycle itself is charged to what is allocated.",
				term.SharePercent(r),
			),
		)
	}
	if s := overcharged(rep, k); s != "" {
		out = append(out, s)
	}
	return append(
		out,
		"-explain N shows one row in full: why it is on the heap, other cures, stacks, source. For a cure in general: "+
			"heaptrim explain CODE.",
		"Exit code 3 says that there are findings; nothing failed.",
	)
}

// leastRow is the share of CPU that gives a site a row.
const leastRow = 0.0005

// overcharged says that the sites are charged more than the collector's cost, if the
// excess is beyond its error and as large as the cost that gives a site a row.
func overcharged(rep *finding.Report, k known) string {
	r := rep.Diagnosis.Totals.Remainder
	if !k.churn || !measured(r) || r.High >= 0 || r.Value > -leastRow {
		return ""
	}
	return fmt.Sprintf(
		"The sites' shares of the collector add up to %s of CPU more than it took: the sites share one "+
			"headroom.",
		term.SharePercent(r.Scale(-1)),
	)
}

// cureTable has what each finding's cure saves and what the site costs.
func cureTable(all []entry, k known, width int) *term.Table {
	saves, cpu := term.NewColumn("saves %", false), term.NewColumn("costs %", false)
	bytes, objects := term.NewColumn("B"+k.per(), true), term.NewColumn("objs"+k.per(), true)
	where, function := term.NewColumn("where", false), term.NewColumn("function", false)
	saves.Style, where.Style = term.Bold, term.Cyan
	if !k.cpu {
		saves.Head, saves.Right = "saves B"+k.per(), true
	}
	t := &term.Table{Head: "what to do", Path: where, Function: function}
	for _, e := range all {
		function.Add(shortName(e.row.Site.Function))
		if e.lines > 0 {
			saves.Add(k.savingCell(e.row))
			where.Add(linesText(e.lines))
			cpu.Add("")
			bytes.Add("")
			objects.Add("")
			t.Remarks = append(t.Remarks, "")
			continue
		}
		cell := k.savingCell(e.row)
		if e.part && k.cpu {
			cell = partIndent + cell
		}
		b, o := k.amounts(e.row.Cost)
		saves.Add(cell)
		cpu.Add(costCell(e.row.Cost))
		bytes.Add(term.Amount(b.Value, unit.FormatBytes))
		objects.Add(term.Amount(o.Value, unit.FormatScaled))
		where.Add(place(e.row.Site))
		t.Remarks = append(t.Remarks, whatToDo(e.row)+besideRemark(e.row)+placesRemark(e.row)+callersRemark(e.row))
	}
	if k.cures {
		t.Columns = append(t.Columns, saves)
	}
	if k.cpu && (width >= 80 || !k.cures) {
		t.Columns = append(t.Columns, cpu)
	}
	t.Columns = append(t.Columns, bytes, objects, where, function)
	return t
}

// partIndent is before what a line saves of its function.
const partIndent = "  "

// costCell is what a site costs. One whose live memory saves collections costs nothing.
func costCell(c finding.Cost) string {
	cpu := c.Share()
	return term.PadLeft(term.Percent(cpu.Value), 5) + term.PlusMinus(cpu)
}

// savingCell is a finding's saving; a dash when its remedy is no change.
func (k known) savingCell(f finding.Row) string {
	own := k.savings(f)
	switch {
	case !cured(f) || !measured(own):
		if k.cpu {
			return term.PadLeft(term.Dash, 5)
		}
		return term.Dash
	case k.cpu:
		return term.PadLeft(term.Percent(own.Value), 5) + term.PlusMinus(own)
	}
	return term.Amount(own.Value, unit.FormatBytes)
}
