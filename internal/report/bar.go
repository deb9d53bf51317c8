package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/diagnose"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// segment is one part of the bar and its row of the legend.
type segment struct {
	name  string
	share stats.Interval
	glyph string
	style style
}

// Memory management is drawn solid, from the left, so that its length is the
// headline; what the program does for itself is drawn light. Neighbours differ
// in colour, and in shade where there is none.
var (
	memoryGlyphs = [...]string{"█", "▓", "▒"}
	memoryStyles = [...]style{red, yellow, magenta, cyan, blue, green}
)

const (
	otherGlyph = "░"
	leastShare = 0.0005 // smaller rows share one
)

// decomposition draws where CPU time goes: a stacked bar and its legend.
func decomposition(p *page, d *diagnose.Diagnosis) {
	parts := segments(d.Decomposition, p.color)
	if len(parts) == 0 {
		return
	}
	remark := ""
	if t := d.Totals; t.CPUSeconds > 0 && t.Samples > 0 {
		remark = fmt.Sprintf("%s s of CPU in %s samples", unit.FormatCount(t.CPUSeconds), unit.FormatScaled(float64(t.Samples)))
	}
	p.section("Where CPU time goes", remark)
	spans := []span{{"  ", noStyle}}
	for i, n := range lengths(parts, p.width-4) {
		spans = append(spans, span{strings.Repeat(parts[i].glyph, n), parts[i].style})
	}
	p.line(spans...)
	legend(p, parts)
	for _, b := range d.Decomposition {
		if !b.Charged && b.Share.Value > 0 && finite(b.Share.Value) {
			p.prose("    ", fmt.Sprintf("and %s: %s, on processors with nothing else to do; shown, not charged", b.Name, sharePercent(b.Share)), dim)
		}
	}
}

// segments orders the rows for the bar: memory management by size, then the
// rest by size. Rows too small to see become one each.
func segments(rows []diagnose.Bucket, color bool) []segment {
	memory, small := split(rows, true)
	other, smallOther := split(rows, false)
	if small.share.Value > 0 {
		memory = append(memory, small)
	}
	if smallOther.share.Value > 0 {
		other = append(other, smallOther)
	}
	for i := range memory {
		memory[i].glyph, memory[i].style = memoryGlyphs[i%len(memoryGlyphs)], memoryStyles[i%len(memoryStyles)]
		if color {
			memory[i].glyph = memoryGlyphs[0]
		}
	}
	for i := range other {
		other[i].glyph, other[i].style = otherGlyph, gray
	}
	return append(memory, other...)
}

// split collects the charged rows that are memory management, or those that
// are not, and the sum of the small ones.
func split(rows []diagnose.Bucket, memory bool) (big []segment, small segment) {
	small.name = "other memory management"
	if !memory {
		small.name = "other"
	}
	for _, b := range rows {
		switch {
		case !b.Charged || b.Memory != memory || !finite(b.Share.Value) || b.Share.Value <= 0:
		case b.Share.Value < leastShare:
			small.share = small.share.Add(b.Share)
		default:
			big = append(big, segment{name: b.Name, share: b.Share})
		}
	}
	slices.SortStableFunc(big, func(a, b segment) int { return cmp.Compare(b.share.Value, a.share.Value) })
	return big, small
}

// lengths divides n cells among the segments so that every boundary is within
// half a cell of its place.
func lengths(parts []segment, n int) []int {
	total := 0.0
	for _, s := range parts {
		total += s.share.Value
	}
	out := make([]int, len(parts))
	sum, at := 0.0, 0
	for i, s := range parts {
		sum += s.share.Value
		end := min(int(math.Round(sum/total*float64(n))), n)
		out[i] = max(end-at, 0)
		at = max(at, end)
	}
	return out
}

// legend lists the segments in columns, read downwards.
func legend(p *page, parts []segment) {
	name, value := 0, 0
	for _, s := range parts {
		name = max(name, cells(clean(s.name)))
		value = max(value, cells(sharePercent(s.share)))
	}
	name = min(name, p.width-value-8)
	column := 2 + name + 1 + value + 3
	columns := max((p.width-1)/column, 1)
	rows := (len(parts) + columns - 1) / columns
	for r := range rows {
		spans := []span{{"  ", noStyle}}
		for i := r; i < len(parts); i += rows {
			s := parts[i]
			number := padLeft(percent(s.share.Value), 4) + " %"
			spans = append(spans,
				span{s.glyph, s.style},
				span{" " + padRight(elideMiddle(clean(s.name), name), name) + " " + number, noStyle},
				span{padRight(plusMinus(s.share), value-cells(number)+4), dim})
		}
		p.line(spans...)
	}
}
