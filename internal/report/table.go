package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// column is one column of a table. Its cells are clean.
type column struct {
	head  string
	cells []string
	right bool // aligned at the right
	width int
	style style
}

func newColumn(head string, right bool) *column { return &column{head: head, right: right} }

func (c *column) add(s string) { c.cells = append(c.cells, clean(s)) }

// fit sets the width to that of the widest cell, at most n.
func (c *column) fit(n int) {
	c.width = cells(c.head)
	for _, s := range c.cells {
		c.width = max(c.width, cells(s))
	}
	c.width = min(c.width, n)
}

func (c *column) pad(s string) string {
	s = elideMiddle(s, c.width)
	if c.right {
		return padLeft(s, c.width)
	}
	return padRight(s, c.width)
}

// table is rows of cells with a remark each.
type table struct {
	columns  []*column
	path     *column  // one of columns, or nil: file and line, cut only where nothing else is left to cut
	function *column  // one of columns, or nil: goes into the remark where the path needs the room
	head     string   // of the remarks
	remarks  []string // one a row, at the right where there is room for all, else below
}

// leastFunction is the least room for a function's name beside the path.
const leastFunction = 24

// layout fits the columns into the page and reports how much is left for the
// remark at the right; 0: below.
func (t *table) layout(width int) int {
	room := width - 2
	for _, c := range t.columns {
		c.fit(room)
		if c != t.path && c != t.function {
			room -= c.width + 2
		}
	}
	if t.path == nil {
		return 0
	}
	if f := t.function; f != nil && t.path.width+2+min(f.width, leastFunction) > room {
		t.foldFunction()
	}
	t.path.fit(max(room, 8))
	room -= t.path.width + 2
	if f := t.function; f != nil {
		f.fit(max(room, 8))
		room -= f.width + 2
	}
	longest := cells(t.head)
	for _, r := range t.remarks {
		longest = max(longest, cells(clean(r)))
	}
	if room >= longest {
		return max(room, 0)
	}
	return 0
}

// foldFunction moves the function's name into the remark.
func (t *table) foldFunction() {
	for i, name := range t.function.cells {
		t.remarks[i] = strings.TrimSuffix(elideMiddle(name, 2*leastFunction)+": "+t.remarks[i], ": ")
	}
	t.columns = slices.DeleteFunc(t.columns, func(c *column) bool { return c == t.function })
	t.function = nil
}

func (t *table) write(p *page) {
	right := t.layout(p.width)
	header := "  "
	for _, c := range t.columns {
		head := padRight(c.head, c.width)
		if c.right {
			head = padLeft(c.head, c.width)
		}
		header += head + "  "
	}
	if right > 0 {
		header += t.head
	}
	p.line(styled(header, dim))
	for i := range t.remarks {
		spans := []span{styled("  ", noStyle)}
		for _, c := range t.columns {
			spans = append(spans, styled(c.pad(c.cells[i]), c.style), styled("  ", noStyle))
		}
		remark := clean(t.remarks[i])
		if right > 0 {
			p.line(append(spans, styled(elideEnd(remark, right), dim))...)
			continue
		}
		p.line(spans...)
		below(p, remark)
	}
}

// below writes a remark under its row, in three lines at most.
func below(p *page, remark string) {
	const indent, most = "       ", 3
	lines := wrap(remark, p.width-len(indent))
	for i := range min(most, len(lines)) {
		text := lines[i]
		if i == most-1 {
			text = strings.Join(lines[i:], " ")
		}
		p.line(styled(indent, noStyle), styled(text, dim))
	}
}

// siteTable has what sites cost, in the columns that the page has room for.
func siteTable(findings []finding.Row, k known, width int) *table {
	cpu, gc := newColumn("CPU %", false), newColumn("by GC", true)
	bytes, objects := newColumn("B"+k.per(), true), newColumn("objs"+k.per(), true)
	lives, where, function := newColumn("lives", false), newColumn("where", false), newColumn("function", false)
	where.style, cpu.style = cyan, bold
	t := &table{path: where, function: function}
	for _, f := range findings {
		c := f.Cost
		b, o := k.amounts(c)
		cpu.add(padLeft(percent(c.CPU.Value), 5) + plusMinus(c.CPU))
		gc.add(percent(c.Assist.Value + c.Churn.Value + c.Retention.Value))
		bytes.add(amount(b.Value, unit.FormatBytes))
		objects.add(amount(o.Value, unit.FormatScaled))
		lives.add(lifeWord(f.Lifetime.Class))
		where.add(place(f.Site))
		function.add(shortName(f.Site.Function))
		t.remarks = append(t.remarks, strings.TrimSpace(f.Title))
	}
	if k.cpu {
		t.columns = append(t.columns, cpu)
		if width >= 100 && k.churn {
			t.columns = append(t.columns, gc)
		}
	}
	t.columns = append(t.columns, bytes, objects)
	if width >= 100 {
		t.columns = append(t.columns, lives)
	}
	t.columns = append(t.columns, where, function)
	return t
}

// lifeWord is the lifetime class in one word.
func lifeWord(c finding.LifetimeClass) string {
	switch c {
	case finding.LifetimeUnknown, "":
		return dash
	case finding.LifetimeCycle:
		return "cycle"
	case finding.LifetimeLeak:
		return "leak?"
	}
	return string(c)
}

// setApart is the table of what the user would not change.
func setApart(p *page, rep *finding.Report, k known) {
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
	p.section("Set apart", remark)
	t := siteTable(shown, k, p.width)
	t.write(p)
}

// runs is the table of benchmarks, or of the service's window.
func runs(p *page, rep *finding.Report) {
	if len(rep.Diagnosis.Runs) == 0 {
		return
	}
	shown := rep.Diagnosis.Runs[:min(shownRuns, len(rep.Diagnosis.Runs))]
	name, time, bytes, allocs := newColumn("run", false), newColumn("time/op", true), newColumn("B/op", true),
		newColumn("allocs/op", true)
	cycles, rate, memory := newColumn("GCs/1000 ops", true), newColumn("requests/s", true), newColumn(
		"memory % of CPU", false,
	)
	t := &table{path: name}
	for _, r := range shown {
		name.add(r.Name)
		time.add(amount(r.NsPerOp, unit.FormatNanoseconds))
		b, n := dash, dash
		if perOpKnown(rep, r) {
			b, n = unit.FormatBytes(r.BytesPerOp), unit.FormatScaled(r.AllocsPerOp)
		}
		bytes.add(b)
		allocs.add(n)
		cycles.add(amount(r.CyclesPerKiloOp, unit.FormatCount))
		rate.add(amount(r.RequestsPerSec, unit.FormatScaled))
		share := dash
		if measured(r.MemoryShare) {
			share = padLeft(percent(r.MemoryShare.Value), 5) + plusMinus(r.MemoryShare)
		}
		memory.add(share)
		t.remarks = append(t.remarks, "")
	}
	for _, c := range []*column{time, bytes, allocs, cycles, rate, memory} {
		if c.tells() {
			t.columns = append(t.columns, c)
		}
	}
	if len(t.columns) == 0 {
		return
	}
	t.columns = append([]*column{name}, t.columns...)
	p.section("Runs", "")
	t.write(p)
	if n := len(rep.Diagnosis.Runs); n > len(shown) {
		p.line(styled(fmt.Sprintf("  … and %d more in the JSON report", n-len(shown)), dim))
	}
}

// tells reports whether a column has any value.
func (c *column) tells() bool {
	for _, s := range c.cells {
		if s != dash {
			return true
		}
	}
	return false
}
