// Package history draws what benchmarks allocate over commits, as one HTML file without scripts.
package history

import (
	_ "embed" // the page's template
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
)

//go:embed page.html.tmpl
var page string

// Size of a drawing, in units of the drawing.
const (
	width, height = 720.0, 120.0
	margin        = 12.0
)

// chart is the drawing of one series.
type chart struct {
	Name        string
	First, Last string
	Grew, Fell  bool
	Path        string
	Dots        []dot
	Rows        []row
}

type dot struct {
	X, Y float64
	Text string
	Up   bool
}

type row struct{ Commit, Day, Title, Allocs, Bytes string }

// Page writes the histories, those that changed most first.
func Page(w io.Writer, title string, all []guard.Series) error {
	t, err := template.New("history").Parse(page)
	if err != nil {
		return err
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b guard.Series) int {
		x, y := change(a), change(b)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	var charts []chart
	for _, s := range all {
		charts = append(charts, draw(s))
	}
	return t.Execute(w, map[string]any{"Title": title, "Charts": charts, "Width": width, "Height": height})
}

// change is by what part a series went up or down in all.
func change(s guard.Series) float64 {
	least, most := math.Inf(1), 0.0
	for _, p := range s.Points {
		least, most = math.Min(least, p.Figure.Allocs), math.Max(most, p.Figure.Allocs)
	}
	return (most - least) / (least + 1)
}

// draw makes steps: a figure holds from its commit on.
func draw(s guard.Series) chart {
	c := chart{Name: strings.TrimSpace(s.Package + " " + s.Name + " " + s.Site + " " + s.Keys)}
	first, last := s.Points[0].Figure, s.Points[len(s.Points)-1].Figure
	c.First, c.Last = budget.Number(first.Allocs), budget.Number(last.Allocs)
	c.Grew, c.Fell = last.Allocs > first.Allocs, last.Allocs < first.Allocs
	top := 1e-9
	for _, p := range s.Points {
		top = math.Max(top, p.Figure.Allocs)
	}
	x := func(i int) float64 {
		return margin + float64(i)*(width-2*margin)/float64(max(len(s.Points)-1, 1))
	}
	var path strings.Builder
	before := 0.0
	for i, p := range s.Points {
		y := height - margin - p.Figure.Allocs/top*(height-2*margin)
		if i == 0 {
			fmt.Fprintf(&path, "M%.1f %.1f", x(i), y)
		} else {
			fmt.Fprintf(&path, "H%.1fV%.1f", x(i), y)
		}
		day := p.When.Format("2006-01-02")
		c.Dots = append(c.Dots, dot{x(i), y, fmt.Sprintf("%s allocs/op, %s B/op: %.8s %s %s", budget.Number(p.Figure.Allocs),
			budget.Number(p.Figure.Bytes), p.Commit, day, p.Title), i > 0 && p.Figure.Allocs > before})
		c.Rows = append(c.Rows, row{fmt.Sprintf("%.8s", p.Commit), day, p.Title, budget.Number(p.Figure.Allocs), budget.Number(p.Figure.Bytes)})
		before = p.Figure.Allocs
	}
	c.Path = path.String()
	return c
}
