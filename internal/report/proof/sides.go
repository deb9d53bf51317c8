package proof

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
	"github.com/heaptrim/heaptrim/internal/report/md"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// proveSubject is one benchmark, or the command, on all sides.
type proveSubject struct {
	name  string
	of    []prove.Comparison // by side, from B on
	rows  []proveRow
	notes []string // what fails or differs
}

// proveRow is one metric on all sides.
type proveRow struct {
	label  string
	judged bool
	cells  []proveCell // by side
}

type proveCell struct {
	value, change string
	outcome       prove.Outcome
}

// subjectsOf groups comparisons by what was run.
func subjectsOf(r *prove.Result) []proveSubject {
	var out []proveSubject
	for _, c := range r.Comparisons {
		last := len(out) - 1
		if last < 0 || out[last].name != c.Name || out[last].of[0].Package != c.Package {
			out = append(out, proveSubject{name: c.Name})
			last++
		}
		out[last].of = append(out[last].of, c)
	}
	for i := range out {
		out[i].fill()
	}
	return out
}

func (s *proveSubject) fill() {
	for _, metric := range s.metrics() {
		s.rows = append(s.rows, s.row(metric))
	}
	s.rows = append(s.rows, s.pauses()...)
	if f := s.of[0].Failed[0]; f != "" {
		s.notes = append(s.notes, prove.Letter(0)+" fails: "+f)
	}
	for _, c := range s.of {
		if c.Failed[1] != "" {
			s.notes = append(s.notes, prove.Letter(c.Side)+" fails: "+c.Failed[1])
		}
		for _, d := range c.Differs {
			s.notes = append(s.notes, "no call is made of "+prove.Letter(c.Side)+", the work differs: "+d)
		}
	}
}

// metrics are the units of any side, in their order, without the pauses of single runs:
// those of all runs together are more precise.
func (s *proveSubject) metrics() []string {
	var out []string
	seen := map[string]bool{"gc-pause-p50-ns": true, "gc-pause-p99-ns": true, "gc-pause-max-ns": true}
	for _, c := range s.of {
		for _, ch := range c.Changes {
			if !seen[ch.Unit] {
				seen[ch.Unit] = true
				out = append(out, ch.Unit)
			}
		}
	}
	return out
}

func (s *proveSubject) row(metric string) proveRow {
	row := proveRow{cells: make([]proveCell, len(s.of)+1)}
	for i, c := range s.of {
		for _, ch := range c.Changes {
			if ch.Unit != metric {
				continue
			}
			row.label, row.judged = ch.Label, ch.Judged
			if ch.Runs.A > 0 {
				row.cells[0].value = metricValue(metric, ch.A.Value)
			}
			if ch.Runs.B > 0 {
				row.cells[i+1] = proveCell{metricValue(metric, ch.B.Value), changeText(ch), ch.Outcome}
			}
		}
	}
	return row
}

// pauses are the rows of all stop-the-world pauses.
func (s *proveSubject) pauses() []proveRow {
	of := []prove.Pauses{s.of[0].Pauses[0]}
	most := of[0].Count
	for _, c := range s.of {
		of, most = append(of, c.Pauses[1]), max(most, c.Pauses[1].Count)
	}
	if most == 0 {
		return nil
	}
	rows := []proveRow{
		{label: "pauses (STW), count"}, {label: "pause p50"}, {label: "pause p99"}, {label: "longest pause"},
	}
	for _, p := range of {
		cells := []string{
			fmt.Sprint(p.Count), unit.FormatNanoseconds(float64(p.P50)), unit.FormatNanoseconds(float64(p.P99)),
			unit.FormatNanoseconds(float64(p.Max)),
		}
		for i := range rows {
			cell := proveCell{}
			if i == 0 || p.Count > 0 {
				cell.value = cells[i]
			}
			rows[i].cells = append(rows[i].cells, cell)
		}
	}
	return rows
}

// word is the change of a cell, with the call where one is made.
func (c proveCell) word() string { return strings.TrimSpace(c.change + " " + string(c.outcome)) }

// proveSubjects shows the benchmarks: each side of more than two in columns of
// its own, where there is room for them.
func proveSubjects(p *term.Page, r *prove.Result) {
	if len(r.Sides) <= 2 {
		for _, c := range r.Comparisons {
			proveRows(p, c)
		}
		return
	}
	for _, s := range subjectsOf(r) {
		t, width := s.table(headsOf(r.Sides))
		if width > p.Width {
			for _, c := range s.of {
				proveRows(p, c)
			}
			continue
		}
		p.Blank()
		p.Line(term.Styled(s.name, term.Bold),
			term.Styled(fmt.Sprintf("  %d pairs of runs", s.of[0].Pairs), term.Normal))
		t.Write(p)
		for _, n := range s.notes {
			p.Prose("  ! ", n, term.Red)
		}
		for _, c := range s.of {
			for _, w := range proveWarnings(c) {
				p.Prose("  ! ", prove.Letter(c.Side)+": "+w, term.Yellow)
			}
		}
	}
}

// headsOf are the letters of the sides, with their Go release where that is
// what differs.
func headsOf(all []sides.Info) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = prove.Letter(i)
		if s.GoVersion != all[0].GoVersion || i == 0 && slices.ContainsFunc(
			all, func(t sides.Info) bool { return t.GoVersion != s.GoVersion },
		) {
			out[i] += " " + s.GoVersion
		}
	}
	return out
}

// table is the subject as a table, and how wide it wants to be. What is judged
// has its changes in a row below.
func (s *proveSubject) table(heads []string) (*term.Table, int) {
	label := term.NewColumn("", false)
	t := &term.Table{Columns: []*term.Column{label}, Path: label}
	for _, head := range heads {
		t.Columns = append(t.Columns, term.NewColumn(head, true))
	}
	add := func(name string, cell func(side int) string) {
		label.Add(name)
		for side, c := range t.Columns[1:] {
			c.Add(cell(side))
		}
		t.Remarks = append(t.Remarks, "")
	}
	for _, row := range s.rows {
		add(row.label, func(side int) string { return row.cells[side].value })
		if row.judged {
			add("  against A", func(side int) string { return row.cells[side].word() })
		}
	}
	width := 2
	for _, c := range t.Columns {
		c.Fit(1 << 10)
		width += c.Width + 2
	}
	return t, width
}

// markdownSubjects has a table for each benchmark with a column for each side.
func markdownSubjects(b *bufio.Writer, r *prove.Result) {
	for _, s := range subjectsOf(r) {
		fmt.Fprintf(b, "\n%s\n\n|  |", md.Code(s.name))
		for i, side := range r.Sides {
			fmt.Fprintf(b, " %s: %s |", prove.Letter(i), md.Text(side.Spec))
		}
		b.WriteString("\n|---|" + strings.Repeat("--:|", len(r.Sides)) + "\n")
		for _, row := range s.rows {
			label := md.Text(row.label)
			if row.judged {
				label = "**" + label + "**"
			}
			fmt.Fprintf(b, "| %s |", label)
			for _, c := range row.cells {
				text := md.Text(c.value)
				if c.change != "" {
					text += " (" + md.Text(c.change) + ")"
				}
				if c.outcome != prove.NotJudged {
					text += " " + mdOutcome(c.outcome)
				}
				fmt.Fprintf(b, " %s |", text)
			}
			b.WriteString("\n")
		}
	}
}
