package tuning

import (
	"fmt"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/gcmodel"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/tune"
	"github.com/heaptrim/heaptrim/internal/unit"
)

const (
	curveRows    = 11
	curveColumns = 72
	curveMargin  = 9
)

// curve draws processor time against memory: each setting at its place, memory
// in doublings to the right.
func curve(t *term.Page, p *tune.Plan) {
	points := known(p)
	if len(points) < 2 {
		return
	}
	a := axesOf(points, min(curveColumns, t.Width-curveMargin-2))
	grid := make([][]rune, curveRows)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", a.columns))
	}
	put := func(q tune.Point, glyph rune) {
		x, y := a.place(q)
		grid[y][x] = glyph
	}
	for _, q := range points {
		put(q, glyphOf(tune.Changed(q.Forecast.Setting, p.Today.Forecast.Setting)))
	}
	if p.Today.Known() {
		put(p.Today, 'T')
	}
	if p.Choice.Refused == "" && p.Choice.Point.Known() {
		put(p.Choice.Point, 'R')
	}
	t.Blank()
	t.Linef("collector, %% of CPU")
	for i, row := range grid {
		label := ""
		if i%5 == 0 {
			label = fmt.Sprintf("%.1f", 100*a.top*float64(curveRows-1-i)/float64(curveRows-1))
		}
		t.Linef("%*s │%s", curveMargin-2, label, string(row))
	}
	t.Linef("%*s └%s", curveMargin-2, "", strings.Repeat("─", a.columns))
	t.Linef("%*s  %s", curveMargin-2, "", a.ticks())
	t.Prose("  ", "o GOGC   l GOGC=off and a limit   b ballast   + several   T today   R recommended; memory is the "+
		sizeName(p.Today), term.Normal)
}

func known(p *tune.Plan) []tune.Point {
	var out []tune.Point
	for _, q := range append([]tune.Point{p.Today}, p.Curve...) {
		if q.Known() && size(q).Value > 0 {
			out = append(out, q)
		}
	}
	return out
}

// size is the resident set, or the heap where that is not known.
func size(q tune.Point) stats.Interval {
	if q.Forecast.RSS.Value > 0 {
		return q.Forecast.RSS
	}
	return q.Forecast.Peak
}

// sizeName names the quantity of size.
func sizeName(q tune.Point) string {
	if q.Forecast.RSS.Value > 0 {
		return "resident set at its largest"
	}
	return "largest heap: the resident set is not known"
}

func glyphOf(s gcmodel.Setting) rune {
	switch {
	case s.Ballast > 0 && s.Limit == 0:
		return 'b'
	case s.GOGC < 0 && s.Ballast == 0:
		return 'l'
	case s.Limit == 0:
		return 'o'
	}
	return '+'
}

// axes are the scales of the drawing.
type axes struct {
	columns   int
	low, high float64 // logarithms of memory
	top       float64 // share of CPU
}

func axesOf(points []tune.Point, columns int) axes {
	a := axes{columns: columns, low: math.Inf(1), high: math.Inf(-1)}
	for _, q := range points {
		l := math.Log2(size(q).Value)
		a.low, a.high = math.Min(a.low, l), math.Max(a.high, l)
		a.top = math.Max(a.top, q.Forecast.Collector.Value)
	}
	if a.high-a.low < 0.5 {
		a.low, a.high = a.low-0.25, a.high+0.25
	}
	if a.top == 0 {
		a.top = 0.01
	}
	return a
}

func (a axes) place(q tune.Point) (x, y int) {
	part := (math.Log2(size(q).Value) - a.low) / (a.high - a.low)
	x = int(math.Round(part * float64(a.columns-1)))
	y = curveRows - 1 - int(math.Round(q.Forecast.Collector.Value/a.top*float64(curveRows-1)))
	return min(max(x, 0), a.columns-1), min(max(y, 0), curveRows-1)
}

// ticks writes sizes below the axis.
func (a axes) ticks() string {
	row := []rune(strings.Repeat(" ", a.columns+12))
	const count = 4
	for i := range count + 1 {
		part := float64(i) / count
		label := unit.FormatBytes(math.Exp2(a.low + part*(a.high-a.low)))
		at := int(part * float64(a.columns-1))
		if i == count {
			at -= len(label) - 1
		}
		copy(row[max(at, 0):], []rune(label))
	}
	return strings.TrimRight(string(row), " ")
}
