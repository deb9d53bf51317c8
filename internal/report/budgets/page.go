package budgets

import (
	_ "embed" // the page's template
	"html/template"
	"io"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

//go:embed page.html.tmpl
var page string

// pageRow is a line of the table, with all of its words.
type pageRow struct{ Class, Name, Allocs, Bytes, Budget, Status string }

// pageCause is a line of the source.
type pageCause struct {
	Place, By, Text string
	Sentences       []string
}

// pageGrown is a benchmark that grew.
type pageGrown struct {
	Name, Amounts, From, Note string
	Causes                    []pageCause
}

type pageList struct {
	Title string
	Items []string
}

// Page writes a result as one HTML file without scripts: the lines of what grew, and every benchmark
// that was counted.
func Page(w io.Writer, r *guard.Result) error {
	t, err := template.New("guard").Parse(page)
	if err != nil {
		return err
	}
	var grown []pageGrown
	for _, b := range r.Grown() {
		g := pageGrown{Name: label(*b), Amounts: amounts(b.Line.Figure.Amount, b.Now), From: b.From}
		switch {
		case len(b.Causes) == 0:
			g.Note = "Its lines are not known."
		case b.NoBase:
			g.Note = "There is no earlier version to compare with. Most is allocated at:"
		}
		for _, c := range b.Causes {
			g.Causes = append(g.Causes, pageCause{Place(c), by(*b, c), term.Clean(c.Text), Sentences(c)})
		}
		grown = append(grown, g)
	}
	var rows []pageRow
	for _, b := range r.Benches {
		if b.Ops > 0 {
			rows = append(rows, rowOf(b))
		}
	}
	var contracts []string
	for _, c := range r.Contracts {
		contracts = append(contracts, contractText(c))
	}
	var lists []pageList
	for _, l := range []pageList{{"Warnings", append(eventList(r), r.Warnings...)}, {"Dependencies with another version", r.Dependency}, {"Contracts", contracts}} {
		if len(l.Items) > 0 {
			lists = append(lists, l)
		}
	}
	return t.Execute(w, map[string]any{"Headline": headline(r), "Module": r.Module, "Env": r.Env.String(), "Commit": r.Commit[:min(12, len(r.Commit))],
		"Grown": grown, "Lists": lists, "Rows": rows})
}

func rowOf(b guard.Bench) pageRow {
	was, known := before(b)
	row := pageRow{Name: label(b), Allocs: step(known, was.Allocs, b.Now.Allocs), Bytes: step(known, was.Bytes, b.Now.Bytes), Status: mark(b)}
	if b.Line != nil {
		row.Budget = b.Line.Figure.String()
		if b.Line.Reason != "" {
			row.Budget += " # " + b.Line.Reason
		}
	}
	switch {
	case b.Fails():
		row.Class = "bad"
	case b.Status == guard.Shrank || b.Rule == budget.Adopt:
		row.Class = "good"
	}
	return row
}
