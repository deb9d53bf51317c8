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
	"github.com/heaptrim/heaptrim/internal/stats"
)

// Diff is the unified diff of the kept edits, with names relative to the module.
func Diff(f *fix.Fixes) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(f.After)) {
		out = append(out, unified(f.Module, fix.Difference{File: name, Old: f.Before[name], New: f.After[name]})...)
	}
	return out
}

// diffOf is the unified diff of one attempt alone.
func diffOf(f *fix.Fixes, a fix.Attempt) (string, error) {
	list, err := f.Diffs(a)
	var out []byte
	for _, d := range list {
		out = append(out, unified(f.Module, d)...)
	}
	return string(out), err
}

func unified(module string, d fix.Difference) []byte {
	rel := d.File
	if r, err := filepath.Rel(module, d.File); err == nil {
		rel = filepath.ToSlash(r)
	}
	text := diff.Diff("a/"+rel, d.Old, "b/"+rel, d.New)
	if _, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(text, []byte("diff ")) {
		return rest // the line that names a command nobody ran
	}
	return text
}

// Text writes what was tried: the edits that were kept with their figures, those that wait for an
// answer with their diff, and for each of the others why it was dropped.
func Text(w io.Writer, f *fix.Fixes, applied bool, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	p.Prose("", headline(f, applied), term.Bold)
	if f.Tried(fix.Kept) > 0 {
		p.Blank()
		table(p, f, kept)
		if c := f.Confirmation; c != nil {
			p.Blank()
			p.Prose("  ", confirmed(f), term.Normal)
		}
	}
	for _, part := range []struct {
		outcome       fix.Outcome
		title, remark string
	}{
		{fix.Review, "To review", "each allocates less, and rests on something that the source does not prove; -safety review applies them"},
		{fix.Open, "Not measured", "each holds, and nothing that can be run again shows what it saves; heaptrim does not apply them by itself"},
	} {
		if f.Tried(part.outcome) == 0 {
			continue
		}
		p.Section(part.title, part.remark)
		if err := open(p, f, part.outcome); err != nil {
			return err
		}
	}
	dropped(p, f)
	if len(f.Result.Failing) > 0 {
		p.Blank()
		fail := "1 test fails"
		if n := len(f.Result.Failing); n > 1 {
			fail = fmt.Sprintf("%d tests fail", n)
		}
		p.Prose("  ", fmt.Sprintf("%s without any edit, so no edit is judged by them: %s", fail, fix.Some(f.Result.Failing)), term.Yellow)
	}
	return p.Flush()
}

// headline says in a sentence how it ended.
func headline(f *fix.Fixes, applied bool) string {
	what := "to apply"
	if applied {
		what = "applied"
	}
	text := fmt.Sprintf("%s looked at, %s tried: %d %s", count(f.Findings, "finding"), count(len(f.Attempts), "edit"), f.Tried(fix.Kept), what)
	for _, part := range []struct {
		outcome fix.Outcome
		words   string
	}{{fix.Review, "to review"}, {fix.Open, "not measured"}} {
		if n := f.Tried(part.outcome); n > 0 {
			text += fmt.Sprintf(", %d %s", n, part.words)
		}
	}
	return text + "."
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

func kept(a fix.Attempt) bool { return a.Outcome == fix.Kept }

// table lists attempts: cure, place, predicted, measured.
func table(p *term.Page, f *fix.Fixes, which func(fix.Attempt) bool) {
	allocs, bytes := term.NewColumn("allocs/op", true), term.NewColumn("B/op", true)
	predicted, cure, path := term.NewColumn("predicted", true), term.NewColumn("cure", false), term.NewColumn("at", false)
	t := &term.Table{Columns: []*term.Column{allocs, bytes, predicted, cure, path}, Path: path, Head: "edit"}
	for _, a := range f.Attempts {
		if !which(a) {
			continue
		}
		allocs.Add(change(a.Before.Allocs, a.After.Allocs))
		bytes.Add(change(a.Before.Bytes, a.After.Bytes))
		predicted.Add(saving(a.Predicted.ObjectsPerOp))
		cure.Add(a.Edit.Code)
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
func confirmed(f *fix.Fixes) string {
	c := f.Confirmation
	text := fmt.Sprintf("%s of %s pass with all edits", count(c.Passed, "test"), count(len(c.Packages), "package"))
	if c.Passed == 0 {
		text = "no test covers the edits"
	}
	if len(c.Raced) > 0 {
		text += ", with the race detector, too"
	}
	if c.Late.Packages > 0 {
		text += fmt.Sprintf("; there was no time for the tests of %s that depend on them", count(c.Late.Packages, "other package"))
	}
	if len(c.Late.Looks) > 0 {
		text += "; there was no time left for " + strings.Join(c.Late.Looks, ", ")
	}
	text += "; " + covered(f)
	if c.Proof != nil {
		text += "; " + c.Proof.Verdict.Sentence
	}
	return term.FullSentence(text)
}

// covered says which share of the kept edits was looked at by more than the package's own assertions.
func covered(f *fix.Fixes) string {
	calls := 0
	for _, a := range f.Attempts {
		if a.Outcome == fix.Kept {
			calls += a.Verdict.Compare.Calls + a.Verdict.Compare.TestCalls
		}
	}
	text := fmt.Sprintf("%d of %s compared with the code before, by %s", f.Covered(), count(f.Tried(fix.Kept), "edit"), count(calls, "call"))
	if n := len(f.Confirmation.Fuzzed); n > 0 {
		text += " and " + count(n, "fuzz target")
	}
	return text
}

// open shows the edits that wait for a person, each with its diff.
func open(p *term.Page, f *fix.Fixes, o fix.Outcome) error {
	for _, a := range f.Attempts {
		if a.Outcome != o {
			continue
		}
		text, err := diffOf(f, a)
		if err != nil {
			return err
		}
		p.Blank()
		p.Prose("  ", fmt.Sprintf("%s  %s%s", a.At(f.Module), a.Edit.Text, measured(a)), term.Normal)
		if question := a.Question(); question != "" {
			p.Prose("  ? ", question, term.Yellow)
		}
		for line := range strings.Lines(text) {
			p.Line(term.Styled("    "+strings.TrimRight(strings.ReplaceAll(line, "\t", "    "), "\r\n"), term.Dim))
		}
	}
	return nil
}

// measured are the figures of an attempt, if it was counted.
func measured(a fix.Attempt) string {
	if a.Before.Allocs == 0 && a.Before.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf(": %s allocs/op, %s B/op in %s", change(a.Before.Allocs, a.After.Allocs), change(a.Before.Bytes, a.After.Bytes), a.Bench.Name)
}

// ends are the outcomes of what was dropped, in the order in which they are counted.
func ends() []fix.Outcome {
	return []fix.Outcome{fix.NoGain, fix.NoBuild, fix.Breaks, fix.Differs, fix.Slower, fix.Overlaps, fix.NoRun, fix.Untested, fix.Refused, fix.Left, fix.NoTime}
}

// dropped counts the rest by what became of it, and gives the reason for each.
func dropped(p *term.Page, f *fix.Fixes) {
	var parts []string
	for _, o := range ends() {
		if n := f.Tried(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	if n := len(f.NoEdit); n > 0 {
		parts = append(parts, fmt.Sprintf("%s without a known edit", count(n, "finding")))
	}
	if len(parts) == 0 {
		return
	}
	p.Blank()
	p.Prose("  dropped: ", strings.Join(parts, ", "), term.Dim)
	for _, a := range f.Attempts {
		if slices.Contains(ends(), a.Outcome) {
			p.Prose("    ", fmt.Sprintf("%s  %s: %s", a.At(f.Module), a.Edit.Text, Reason(a)), term.Dim)
		}
	}
}

// Reason is what became of an attempt and why, in one line.
func Reason(a fix.Attempt) string {
	first, _, _ := strings.Cut(a.Why, "\n")
	text := string(a.Outcome)
	switch {
	case a.Outcome == fix.NoGain && first == "":
		text += fmt.Sprintf(" (%s allocs/op, %s B/op)", change(a.Before.Allocs, a.After.Allocs), change(a.Before.Bytes, a.After.Bytes))
	case first != "" && a.Outcome != fix.Kept:
		text += " (" + first + ")"
	}
	return text
}
