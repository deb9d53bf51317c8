package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// style is the parameter of a terminal's "select graphic rendition"; empty is
// plain text.
type style string

// The styles in use, all of the 16 colours that every terminal maps to its
// user's theme.
const (
	noStyle style = ""
	bold    style = "1"
	dim     style = "2"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	blue    style = "34"
	magenta style = "35"
	cyan    style = "36"
	gray    style = "90"
)

// span is a piece of a line in one style.
type span struct {
	text  string
	style style
}

// styled is a piece of a line.
func styled(text string, s style) span { return span{text, s} }

// page writes lines that are no wider than a terminal. It is the only way to
// the terminal: whatever passes it is clean. Its first write error sticks.
type page struct {
	w     *bufio.Writer
	width int
	color bool
}

// minWidth is the narrowest page on which the table still has its columns.
const minWidth = 60

// newPage is a page for a terminal of so many columns; 0 stands for 80.
func newPage(w io.Writer, width int, color bool) *page {
	if width <= 0 {
		width = 80
	}
	return &page{bufio.NewWriter(w), max(width, minWidth), color}
}

// newLines is a page that cuts no line, for what is read in a pager or a file too.
func newLines(w io.Writer) *page { return &page{w: bufio.NewWriter(w), width: math.MaxInt} }

// line writes one line, cut to the page's width, without trailing spaces.
func (p *page) line(spans ...span) {
	left := p.width
	last := len(spans) - 1
	for last > 0 && strings.Trim(spans[last].text, " ") == "" {
		last--
	}
	for i, s := range spans[:last+1] {
		text := clean(s.text)
		if i == last {
			text = strings.TrimRight(text, " ")
		}
		if n := cells(text); n > left {
			text = elideEnd(text, left)
			left = 0
		} else {
			left -= n
		}
		p.paint(text, s.style)
		if left == 0 {
			break
		}
	}
	p.w.WriteByte('\n')
}

// linef writes one line of plain text.
func (p *page) linef(format string, args ...any) {
	p.line(styled(fmt.Sprintf(format, args...), noStyle))
}

func (p *page) paint(text string, s style) {
	if !p.color || s == noStyle || text == "" {
		p.w.WriteString(text)
		return
	}
	p.w.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
}

// blank writes an empty line.
func (p *page) blank() { p.w.WriteByte('\n') }

// section starts a part of the report: a heading, and a remark at its right.
func (p *page) section(title, remark string) {
	p.blank()
	if remark == "" {
		p.line(styled(title, bold))
		return
	}
	p.line(styled(title, bold), styled("  "+remark, dim))
}

// prose writes text broken at spaces. lead stands before the first line, the
// others are indented as far.
func (p *page) prose(lead, text string, s style) {
	indent := strings.Repeat(" ", cells(clean(lead)))
	room := max(p.width-cells(indent), 20)
	for _, l := range wrap(clean(text), room) {
		p.line(styled(lead, noStyle), styled(l, s))
		lead = indent
	}
}

// wrap breaks text into lines of at most n cells; words that are longer are
// cut.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = elideMiddle(word, n)
		switch {
		case line == "":
			line = word
		case cells(line)+1+cells(word) <= n:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// flush ends the page. Its error is the first that a write met.
func (p *page) flush() error { return p.w.Flush() }
