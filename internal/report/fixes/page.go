package fixes

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

//go:embed page.html.tmpl
var pageText string

// pageRow is one attempt of the page.
type pageRow struct {
	Code, At, Text, Question, Predicted, Allocs, Bytes, Bench, Outcome, Why string

	Kept bool
	Diff []pageLine
}

// pageLine is a line of a diff with its class: add, del, or none.
type pageLine struct{ Class, Text string }

type pageData struct {
	Headline, Confirmed string

	Rows  []pageRow
	Proof []proofRow
}

// Page writes one HTML file that needs nothing beside it: all attempts with their diffs, and the proof.
func Page(w io.Writer, f *fix.Fixes, applied bool) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	d := pageData{Headline: headline(f, applied)}
	if f.Confirmation != nil && f.Tried(fix.Kept) > 0 {
		d.Confirmed = confirmed(f)
		if f.Proof != nil {
			proved(f.Proof, func(r proofRow) { r.Name = term.Clean(r.Name); d.Proof = append(d.Proof, r) })
		}
	}
	for _, a := range f.Attempts {
		row := pageRow{Code: a.Edit.Code, At: term.Clean(a.At(f.Module)), Text: term.Clean(a.Edit.Text), Question: term.Clean(a.Question()),
			Predicted: saving(a.Predicted.ObjectsPerOp), Bench: term.Clean(a.Bench.Name), Outcome: string(a.Outcome), Why: term.Clean(Reason(a)),
			Kept: a.Outcome == fix.Kept}
		if a.Before.Allocs > 0 || a.Before.Bytes > 0 {
			row.Allocs, row.Bytes = change(a.Before.Allocs, a.After.Allocs), change(a.Before.Bytes, a.After.Bytes)
		}
		text, err := diffOf(f, a)
		if err != nil && a.Outcome == fix.Kept {
			return err
		}
		row.Diff = linesOf(text)
		d.Rows = append(d.Rows, row)
	}
	return t.Execute(w, d)
}

// linesOf are the lines of a diff.
func linesOf(text string) []pageLine {
	var out []pageLine
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "@@"):
			class = "head"
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		out = append(out, pageLine{class, strings.ReplaceAll(term.Clean(line), `\t`, "    ")})
	}
	return out
}
