// Package fixes shows what heaptrim fix tried, kept and dropped.
package fixes

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/heaptrim/heaptrim/internal/fix"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/schema"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Diff is the unified diff of the kept edits, with names relative to the module.
func Diff(f *fix.Fixes) []byte { return diffOf(f, f.After) }

// diffOf is the difference of files to what they are without edits.
func diffOf(f *fix.Fixes, after map[string][]byte) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(after)) {
		out = append(out, unified(f.Module, name, f.Before[name], after[name])...)
	}
	return out
}

func unified(module, name string, old, new []byte) []byte {
	rel := name
	if r, err := filepath.Rel(module, name); err == nil {
		rel = filepath.ToSlash(r)
	}
	text := diff.Diff("a/"+rel, old, "b/"+rel, new)
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(text, []byte("diff ")) {
		return rest // the line that names a command nobody ran
	}
	return text
}

// Text writes what was tried: the edits that were kept with their figures, those that wait for an
// answer with their diff, and how many were dropped for which reason.
func Text(w io.Writer, f *fix.Fixes, applied bool, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	kept := f.Tried(fix.Kept)
	p.Prose("", headline(f, applied), term.Bold)
	if kept > 0 {
		p.Blank()
		table(p, f, fix.Kept)
	}
	if c := f.Confirmation; c != nil && kept > 0 {
		p.Blank()
		p.Prose("  ", confirmed(c), term.Normal)
	}
	if f.Tried(fix.Review) > 0 {
		if err := reviews(p, f); err != nil {
			return err
		}
	}
	dropped(p, f)
	if len(f.Result.Failing) > 0 {
		p.Blank()
		p.Prose("  ", fmt.Sprintf("%s without any edit, so no edit is judged by them: %s",
			term.Plural(float64(len(f.Result.Failing)), "test fails"), strings.Join(f.Result.Failing, ", ")), term.Yellow)
	}
	return p.Flush()
}

// headline says in a sentence how it ended.
func headline(f *fix.Fixes, applied bool) string {
	kept, review := f.Tried(fix.Kept), f.Tried(fix.Review)
	what := "to apply"
	if applied {
		what = "applied"
	}
	text := fmt.Sprintf("%s looked at, %s tried: %d %s", count(f.Findings, "finding"), count(len(f.Attempts), "edit"), kept, what)
	if review > 0 {
		text += fmt.Sprintf(", %d to review", review)
	}
	return text + "."
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// table lists the attempts with an outcome.
func table(p *term.Page, f *fix.Fixes, o fix.Outcome) {
	allocs, bytes := term.NewColumn("allocs/op", true), term.NewColumn("B/op", true)
	predicted, path := term.NewColumn("predicted", true), term.NewColumn("at", false)
	t := &term.Table{Columns: []*term.Column{allocs, bytes, predicted, path}, Path: path, Head: "edit"}
	for _, a := range f.Attempts {
		if a.Outcome != o {
			continue
		}
		allocs.Add(change(a.Before.Allocs, a.After.Allocs))
		bytes.Add(change(a.Before.Bytes, a.After.Bytes))
		predicted.Add(saving(a.Predicted.Saves.ObjectsPerOp))
		path.Add(a.At(f.Module))
		t.Remarks = append(t.Remarks, a.Edit.Text+" ("+a.Bench.Name+")")
	}
	t.Write(p)
}

func change(before, after float64) string { return mean(before) + " → " + mean(after) }

// mean prints a mean of whole numbers, without the fraction that the first operations of a run make.
func mean(v float64) string {
	if math.Abs(v-math.Round(v)) < 0.05 || v >= 1000 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func saving(i stats.Interval) string {
	if i.Value <= 0 {
		return term.Dash
	}
	return fmt.Sprintf("−%.3g", i.Value)
}

// confirmed says what was looked at for all kept edits together.
func confirmed(c *fix.Confirmation) string {
	text := fmt.Sprintf("%s of %s pass with all edits", count(c.Passed, "test"), count(len(c.Packages), "package"))
	if c.Passed == 0 {
		text = "no test covers the edits"
	}
	if c.Skipped > 0 {
		text += fmt.Sprintf("; there was no time for the tests of %s that depend on them", count(c.Skipped, "other package"))
	}
	if c.Proof != nil {
		text += "; " + c.Proof.Verdict.Sentence
	}
	return term.FullSentence(text)
}

// reviews shows the edits that wait for an answer.
func reviews(p *term.Page, f *fix.Fixes) error {
	p.Section("To review", "each allocates less, and rests on something that the source does not prove; -safety review applies them")
	for _, d := range f.Attempts {
		if d.Outcome != fix.Review {
			continue
		}
		after, err := f.Alone(d)
		if err != nil {
			return err
		}
		p.Blank()
		p.Prose("  ", fmt.Sprintf("%s  %s: %s allocs/op, %s B/op in %s", d.At(f.Module), d.Edit.Text,
			change(d.Before.Allocs, d.After.Allocs), change(d.Before.Bytes, d.After.Bytes), d.Bench.Name), term.Normal)
		p.Prose("  ? ", d.Edit.Open, term.Yellow)
		for line := range strings.Lines(string(diffOf(f, after))) {
			p.Line(term.Styled("    "+strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\r\n"), term.Dim))
		}
	}
	return nil
}

// dropped counts the rest by what became of it.
func dropped(p *term.Page, f *fix.Fixes) {
	var parts []string
	for _, o := range []fix.Outcome{fix.NoGain, fix.NoBuild, fix.Breaks, fix.Differs, fix.Slower, fix.Overlaps, fix.NoRun, fix.Untested, fix.Left, fix.NoTime} {
		if n := f.Tried(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if f.NoEdit > 0 {
		parts = append(parts, fmt.Sprintf("%s without a known edit", count(f.NoEdit, "finding")))
	}
	if len(parts) == 0 {
		return
	}
	p.Blank()
	p.Prose("  dropped: ", strings.Join(parts, ", "), term.Dim)
	for _, a := range f.Attempts {
		switch a.Outcome {
		case fix.Breaks, fix.Differs, fix.Slower, fix.Left, fix.Untested, fix.NoRun:
			first, _, _ := strings.Cut(a.Why, "\n")
			p.Prose("    ", fmt.Sprintf("%s  %s: %s (%s)", a.At(f.Module), a.Edit.Text, a.Outcome, first), term.Dim)
		}
	}
}

// JSON writes all of it in the schema of doc/format/fix.md.
func JSON(w io.Writer, f *fix.Fixes, applied bool, m schema.Meta) error {
	doc := schema.Fix{Schema: schema.FixVersion, Tool: m.Tool, Applied: applied, Findings: f.Findings, NoEdit: f.NoEdit,
		Attempts: []schema.FixAttempt{}, Failing: schema.List(f.Result.Failing), Packages: []string{}, Diff: string(Diff(f))}
	if !m.Created.IsZero() {
		created := m.Created.UTC()
		doc.Created = &created
	}
	if c := f.Confirmation; c != nil {
		doc.Packages, doc.Passed, doc.Skipped = schema.List(c.Packages), c.Passed, c.Skipped
		if c.Proof != nil {
			doc.Times = c.Proof.Verdict.Sentence
		}
	}
	for _, a := range f.Attempts {
		at := schema.FixAttempt{Code: a.Edit.Code, Kind: a.Edit.Kind, File: a.Edit.File, Line: a.Edit.Line, Text: a.Edit.Text,
			Outcome: string(a.Outcome), Why: a.Why, Question: a.Edit.Open, Benchmark: a.Bench.Name,
			Predicted: schema.FixAmounts{Allocs: a.Predicted.Saves.ObjectsPerOp.Value, Bytes: a.Predicted.Saves.BytesPerOp.Value},
			Before:    schema.FixAmounts{Allocs: a.Before.Allocs, Bytes: a.Before.Bytes},
			After:     schema.FixAmounts{Allocs: a.After.Allocs, Bytes: a.After.Bytes}}
		if a.Outcome == fix.Kept || a.Outcome == fix.Review {
			after, err := f.Alone(a)
			if err != nil {
				return err
			}
			at.Diff = string(diffOf(f, after))
		}
		doc.Attempts = append(doc.Attempts, at)
	}
	return schema.Write(w, doc)
}
