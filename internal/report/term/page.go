// Package term writes for a terminal: lines that fit it, in its colours, without control
// characters from elsewhere; tables; and numbers as reports print them.
package term

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Style is the parameter of a terminal's "select graphic rendition"; empty is
// plain text.
type Style string

// The styles in use, all of the 16 colours that every terminal maps to its
// user's theme.
const (
	Normal  Style = ""
	Bold    Style = "1"
	Dim     Style = "2"
	Red     Style = "31"
	Green   Style = "32"
	Yellow  Style = "33"
	Blue    Style = "34"
	Magenta Style = "35"
	Cyan    Style = "36"
	Gray    Style = "90"
)

// Span is a piece of a line in one style.
type Span struct {
	text  string
	style Style
}

// Styled is a piece of a line.
func Styled(text string, s Style) Span { return Span{text, s} }

// Page writes lines that are no wider than a terminal. It is the only way to the terminal:
// all its output is clean. Its first write error is kept.
type Page struct {
	w     *bufio.Writer
	Width int
	Color bool
	whole bool // lines that are longer than Width are not cut
}

// MinWidth is the narrowest page on which the table still has its columns.
const MinWidth = 60

// New is a page for a terminal of so many columns; 0 stands for 80.
func New(w io.Writer, width int, color bool) *Page {
	if width <= 0 {
		width = 80
	}
	return &Page{w: bufio.NewWriter(w), Width: max(width, MinWidth), Color: color}
}

// NewLines is a page of plain text whose lines are whole, however long, for what
// is read in a file too. Prose is broken at width; 0 stands for 80.
func NewLines(w io.Writer, width int) *Page {
	p := New(w, width, false)
	p.whole = true
	return p
}

// Line writes one line, cut to the page's width, without trailing spaces.
func (p *Page) Line(spans ...Span) {
	left := p.Width
	last := len(spans) - 1
	for last > 0 && strings.Trim(spans[last].text, " ") == "" {
		last--
	}
	for i, s := range spans[:last+1] {
		text := Clean(s.text)
		if i == last {
			text = strings.TrimRight(text, " ")
		}
		if n := Cells(text); n > left && !p.whole {
			text = ElideEnd(text, left)
			left = 0
		} else {
			left -= n
		}
		p.paint(text, s.style)
		if left <= 0 && !p.whole {
			break
		}
	}
	p.w.WriteByte('\n')
}

// Linef writes one line of plain text.
func (p *Page) Linef(format string, args ...any) {
	p.Line(Styled(fmt.Sprintf(format, args...), Normal))
}

func (p *Page) paint(text string, s Style) {
	if !p.Color || s == Normal || text == "" {
		p.w.WriteString(text)
		return
	}
	p.w.WriteString("\x1b[" + string(s) + "m" + text + "\x1b[0m")
}

// Blank writes an empty line.
func (p *Page) Blank() { p.w.WriteByte('\n') }

// Section starts a part of the report: a heading, and a remark at its right.
func (p *Page) Section(title, remark string) {
	p.Blank()
	if remark == "" {
		p.Line(Styled(title, Bold))
		return
	}
	p.Line(Styled(title, Bold), Styled("  "+remark, Dim))
}

// Prose writes text broken at spaces. lead stands before the first line, the
// others are indented as far.
func (p *Page) Prose(lead, text string, s Style) {
	indent := strings.Repeat(" ", Cells(Clean(lead)))
	room := max(p.Width-Cells(indent), 20)
	words := strings.Fields(Clean(text))
	if !p.whole {
		elide(words, room)
	}
	for _, l := range fill(words, room) {
		p.Line(Styled(lead, Normal), Styled(l, s))
		lead = indent
	}
}

// Wrap breaks text into lines of at most n cells; words that are longer are
// cut.
func Wrap(text string, n int) []string {
	words := strings.Fields(text)
	elide(words, n)
	return fill(words, n)
}

// elide cuts the words that are longer than n cells.
func elide(words []string, n int) {
	for i, w := range words {
		words[i] = ElideMiddle(w, n)
	}
}

// fill makes lines of at most n cells of words, of which none is longer.
func fill(words []string, n int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case Cells(line)+1+Cells(word) <= n:
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

// Flush ends the page. Its error is the first that a write met.
func (p *Page) Flush() error { return p.w.Flush() }

// Options is what a terminal can show. The zero value is a plain one of 80
// columns.
type Options struct {
	Width int // columns; 0 means 80, and below 60 counts as 60
	Color bool
}
