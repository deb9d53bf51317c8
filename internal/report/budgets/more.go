package budgets

import (
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/limits"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/stats"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Bisected writes how the search for a commit ended.
func Bisected(w io.Writer, b *guard.Bisection, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	p.Prose("", fmt.Sprintf("%s %s: %s at %.12s, %s at %.12s.", b.Package, b.Name, amount(b.Good.Amount), b.Good.Commit,
		amount(b.Bad.Amount), b.Bad.Commit), term.Normal)
	p.Blank()
	for _, s := range b.Steps {
		text := amount(s.Amount)
		if s.Skipped != "" {
			text = "skipped: " + s.Skipped
		}
		p.Prose("  ", fmt.Sprintf("%.12s  %s  %s", s.Commit, text, s.Title), term.Dim)
	}
	p.Blank()
	if b.First != nil {
		p.Prose("", fmt.Sprintf("%.12s made it grow: %s", b.First.Commit, b.First.Title), term.Bold)
		return p.Flush()
	}
	p.Prose("", fmt.Sprintf("One of %d commits made it grow; those before the last of them cannot be counted:", len(b.Between)), term.Bold)
	for _, s := range b.Between {
		p.Prose("  ", fmt.Sprintf("%.12s  %s", s.Commit, s.Title), term.Normal)
	}
	return p.Flush()
}

// Histories writes what benchmarks allocated over commits, those that changed.
func Histories(w io.Writer, all []guard.Series, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	same := 0
	for _, s := range all {
		var steps []guard.Point
		for i, pt := range s.Points {
			if i == 0 || pt.Figure.Amount != s.Points[i-1].Figure.Amount {
				steps = append(steps, pt)
			}
		}
		if len(steps) < 2 {
			same++
			continue
		}
		p.Line(term.Styled(label(guard.Bench{Subject: s.Subject})+" "+s.Keys, term.Bold))
		for _, pt := range steps {
			p.Prose("  ", fmt.Sprintf("%s  %.12s  %s allocs/op, %s B/op  %s", pt.When.Format("2006-01-02"), pt.Commit,
				budget.Number(pt.Figure.Allocs), budget.Number(pt.Figure.Bytes), pt.Title), term.Normal)
		}
	}
	p.Prose("", fmt.Sprintf("%s did not change.", count(same, "line")), term.Normal)
	return p.Flush()
}

// Limits writes how a service stands to its limits.
func Limits(w io.Writer, r *limits.Result, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	text := fmt.Sprintf("%s, %v", r.URL, r.For)
	if r.Requests > 0 {
		text += fmt.Sprintf(", %.0f requests", r.Requests)
	}
	p.Prose("", text+".", term.Bold)
	for _, f := range r.Figures {
		style := map[limits.State]term.Style{limits.Above: term.Red, limits.NotKnown: term.Red, limits.Perhaps: term.Yellow}[f.State]
		text := fmt.Sprintf("%s (%s to %s), the limit is %s: %s", limitValue(f.Name, f.Value.Value), limitValue(f.Name, f.Value.Low),
			limitValue(f.Name, f.Value.High), limitValue(f.Name, f.Max), f.State)
		if f.Value == (stats.Interval{}) {
			text = fmt.Sprintf("%s: %s", f.State, f.Why)
		}
		p.Prose("  ", f.Name+"  "+text, style)
	}
	for _, warning := range r.Warnings {
		p.Prose("warning: ", warning, term.Yellow)
	}
	return p.Flush()
}

func limitValue(name string, v float64) string {
	switch name {
	case limits.GCShare:
		return term.FormatPercent(v)
	case limits.Rate:
		return unit.Bytes(v).String() + "/s"
	}
	return unit.Bytes(v).String()
}
