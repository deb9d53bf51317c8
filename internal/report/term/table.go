package term

import (
	"slices"
	"strings"
)

// Column is one column of a table. Its cells are clean.
type Column struct {
	Head  string
	Cells []string
	Right bool // aligned at the right
	Width int
	Style Style
}

// NewColumn is an empty column, aligned at the right or at the left.
func NewColumn(head string, right bool) *Column { return &Column{Head: head, Right: right} }

// Add adds a cell below the others.
func (c *Column) Add(s string) { c.Cells = append(c.Cells, Clean(s)) }

// Fit sets the width to that of the widest cell, at most n.
func (c *Column) Fit(n int) {
	c.Width = Cells(c.Head)
	for _, s := range c.Cells {
		c.Width = max(c.Width, Cells(s))
	}
	c.Width = min(c.Width, n)
}

func (c *Column) pad(s string) string {
	s = ElideMiddle(s, c.Width)
	if c.Right {
		return PadLeft(s, c.Width)
	}
	return PadRight(s, c.Width)
}

// Table is rows of cells with a remark each.
type Table struct {
	Columns  []*Column
	Path     *Column  // one of columns, or nil: file and line, cut only where nothing else is left to cut
	Function *Column  // one of columns, or nil: goes into the remark where the path needs the room
	Head     string   // of the remarks
	Remarks  []string // one a row, at the right where there is room for all, else below
}

// leastFunction is the least room for a function's name beside the path.
const leastFunction = 24

// layout fits the columns into the page and reports how much is left for the
// remark at the right; 0: below.
func (t *Table) layout(width int) int {
	room := width - 2
	for _, c := range t.Columns {
		c.Fit(room)
		if c != t.Path && c != t.Function {
			room -= c.Width + 2
		}
	}
	if t.Path == nil {
		return 0
	}
	if f := t.Function; f != nil && t.Path.Width+2+min(f.Width, leastFunction) > room {
		t.foldFunction()
	}
	t.Path.Fit(max(room, 8))
	room -= t.Path.Width + 2
	if f := t.Function; f != nil {
		f.Fit(max(room, 8))
		room -= f.Width + 2
	}
	longest := Cells(t.Head)
	for _, r := range t.Remarks {
		longest = max(longest, Cells(Clean(r)))
	}
	if room >= longest {
		return max(room, 0)
	}
	return 0
}

// foldFunction moves the function's name into the remark.
func (t *Table) foldFunction() {
	for i, name := range t.Function.Cells {
		t.Remarks[i] = strings.TrimSuffix(ElideMiddle(name, 2*leastFunction)+": "+t.Remarks[i], ": ")
	}
	t.Columns = slices.DeleteFunc(t.Columns, func(c *Column) bool { return c == t.Function })
	t.Function = nil
}

// Write lays the table out for the page and writes it there.
func (t *Table) Write(p *Page) {
	right := t.layout(p.Width)
	header := "  "
	for _, c := range t.Columns {
		head := PadRight(c.Head, c.Width)
		if c.Right {
			head = PadLeft(c.Head, c.Width)
		}
		header += head + "  "
	}
	if right > 0 {
		header += t.Head
	}
	p.Line(Styled(header, Dim))
	for i := range t.Remarks {
		spans := []Span{Styled("  ", Normal)}
		for _, c := range t.Columns {
			spans = append(spans, Styled(c.pad(c.Cells[i]), c.Style), Styled("  ", Normal))
		}
		remark := Clean(t.Remarks[i])
		if right > 0 {
			p.Line(append(spans, Styled(ElideEnd(remark, right), Dim))...)
			continue
		}
		p.Line(spans...)
		below(p, remark)
	}
}

// below writes a remark under its row, in four lines at most.
func below(p *Page, remark string) {
	const indent, most = "       ", 4
	lines := Wrap(remark, p.Width-len(indent))
	for i := range min(most, len(lines)) {
		text := lines[i]
		if i == most-1 {
			text = strings.Join(lines[i:], " ")
		}
		p.Line(Styled(indent, Normal), Styled(text, Dim))
	}
}

// Tells reports whether a column has any value.
func (c *Column) Tells() bool {
	for _, s := range c.Cells {
		if s != Dash {
			return true
		}
	}
	return false
}
