// Package bar draws where CPU time goes: a stacked bar and its legend, of the
// groups of the decomposition or of all its rows.
package bar

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Segment is one part of the bar and its row of the legend.
type Segment struct {
	Name  string
	Share stats.Interval
	Glyph string
	style term.Style
}

// Memory management is drawn solid, from the left, so that its length is the headline; the
// program's own work is drawn light. Neighbours differ in colour, and in shade where there
// is none.
var (
	memoryGlyphs = [...]string{Solid, "▓", "▒"}
	memoryStyles = [...]term.Style{term.Red, term.Yellow, term.Magenta, term.Cyan, term.Blue, term.Green}
)

// Glyphs of the bar.
const (
	Solid = "█" // memory management
	Light = "░" // the rest
)

const (
	leastShare = 0.01 // smaller rows are joined; the JSON report has all
)

// Draw draws where CPU time goes: the groups of the decomposition, or each of its rows.
func Draw(p *term.Page, d *finding.Diagnosis, rows bool) {
	shown := d.Groups
	if rows {
		shown = d.Decomposition
	}
	parts := Segments(shown, p.Color)
	if len(parts) == 0 {
		return
	}
	remark := ""
	if t := d.Totals; term.Some(t.CPUSeconds) && t.Samples > 0 {
		remark = fmt.Sprintf(
			"%s s of CPU in %s samples", unit.FormatCount(t.CPUSeconds), unit.FormatScaled(float64(t.Samples)),
		)
	}
	p.Section("Where CPU time goes", remark)
	spans := []term.Span{term.Styled("  ", term.Normal)}
	for i, n := range lengths(parts, p.Width-4) {
		spans = append(spans, term.Styled(strings.Repeat(parts[i].Glyph, n), parts[i].style))
	}
	p.Line(spans...)
	legend(p, parts)
	for _, b := range d.Decomposition {
		if !b.Charged && term.Some(b.Share.Value) {
			p.Prose(
				"    ",
				fmt.Sprintf("and %s: %s, on processors with nothing else to do; shown, not charged", b.Name,
					term.SharePercent(b.Share)),
				term.Dim,
			)
		}
	}
	if !rows && len(d.Decomposition) > len(parts) {
		p.Prose("    ", "-rows shows what each is made of", term.Dim)
	}
}

// Segments orders the rows for the bar: memory management by size, then the
// rest by size. Rows too small to see share one.
func Segments(rows []finding.Bucket, color bool) []Segment {
	memory, other := pick(rows, true), pick(rows, false)
	for i := range memory {
		memory[i].Glyph, memory[i].style = memoryGlyphs[i%len(memoryGlyphs)], memoryStyles[i%len(memoryStyles)]
		if color {
			memory[i].Glyph = memoryGlyphs[0]
		}
	}
	for i := range other {
		other[i].Glyph, other[i].style = Light, term.Gray
	}
	return append(memory, other...)
}

// pick collects the charged rows that are memory management, or those that are
// not, largest first, the small ones in one.
func pick(rows []finding.Bucket, memory bool) []Segment {
	var out []Segment
	for _, b := range rows {
		if b.Charged && b.Memory == memory && term.Some(b.Share.Value) {
			out = append(out, Segment{Name: b.Name, Share: b.Share})
		}
	}
	slices.SortStableFunc(out, func(a, b Segment) int { return cmp.Compare(b.Share.Value, a.Share.Value) })
	big := 0
	for big < len(out) && out[big].Share.Value >= leastShare {
		big++
	}
	small := out[big:]
	if len(small) < 2 {
		return out
	}
	var names []string
	var sum stats.Interval
	for _, s := range small {
		names = append(names, s.Name)
		sum = sum.Add(s.Share)
	}
	name := strings.Join(names, ", ")
	if memory || len(names) > 2 {
		name = fmt.Sprintf("%d smaller rows", len(names))
	}
	return append(out[:big], Segment{Name: name, Share: sum})
}

// lengths divides n cells among the segments so that every boundary is within
// half a cell of its place.
func lengths(parts []Segment, n int) []int {
	total := 0.0
	for _, s := range parts {
		total += s.Share.Value
	}
	out := make([]int, len(parts))
	sum, at := 0.0, 0
	for i, s := range parts {
		sum += s.Share.Value
		end := min(int(math.Round(sum/total*float64(n))), n)
		out[i] = max(end-at, 0)
		at = max(at, end)
	}
	return out
}

// legend lists the segments in columns, read downwards.
func legend(p *term.Page, parts []Segment) {
	const glyph, gap, least = 2, 3, 20 // cells; a name is cut to least for another column
	name, value := 0, 0
	for _, s := range parts {
		name = max(name, term.Cells(term.Clean(s.Name)))
		value = max(value, term.Cells(legendNumber(s)+term.PlusMinus(s.Share)))
	}
	room := p.Width - 2 + gap
	columns := max(room/(glyph+min(name, least)+1+value+gap), 1)
	columns = min(columns, 3)
	name = min(name, room/columns-(glyph+1+value+gap))
	rows := (len(parts) + columns - 1) / columns
	for r := range rows {
		spans := []term.Span{term.Styled("  ", term.Normal)}
		for i := r; i < len(parts); i += rows {
			s := parts[i]
			number := legendNumber(s)
			spans = append(spans,
				term.Styled(s.Glyph, s.style),
				term.Styled(" "+term.PadRight(term.ElideEnd(term.Clean(s.Name), name), name)+" "+number, term.Normal),
				term.Styled(term.PadRight(term.PlusMinus(s.Share), value-term.Cells(number)+gap), term.Dim))
		}
		p.Line(spans...)
	}
}

func legendNumber(s Segment) string { return term.PadLeft(term.Percent(s.Share.Value), 4) + " %" }
