// Package budgets shows what heaptrim guard found: what grew, on which line and why.
package budgets

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/contract"
	"github.com/heaptrim/heaptrim/internal/guard/growth"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

// Text writes a result for a terminal: what fails first, each with its line.
func Text(w io.Writer, r *guard.Result, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	p.Prose("", headline(r), term.Bold)
	said := map[string]string{}
	for _, b := range r.Grown() {
		grown(p, *b, said)
	}
	events(p, r)
	contracts(p, r)
	if n := r.Count(guard.Shrank); n > 0 {
		p.Blank()
		p.Prose("", fmt.Sprintf("%s can shrink; 'heaptrim guard update -shrink' lowers them:", count(n, "budget")), term.Green)
		for _, b := range r.Benches {
			if b.Status == guard.Shrank {
				p.Prose("  ", label(b)+"  "+amounts(b.Line.Figure.Amount, b.Now), term.Normal)
			}
		}
	}
	if len(r.Warnings) > 0 {
		p.Blank()
	}
	for _, warning := range r.Warnings {
		p.Prose("warning: ", warning, term.Yellow)
	}
	return p.Flush()
}

// headline says in a sentence how it ended.
func headline(r *guard.Result) string {
	failed, within, functions := map[budget.Subject]bool{}, map[budget.Subject]bool{}, 0
	for _, b := range r.Benches { // a benchmark counts once, whatever the values of GOMAXPROCS
		switch {
		case b.Fails():
			failed[b.Whole()] = true
		case b.Site != "":
			functions++
		case b.Line != nil:
			within[b.Subject] = true
		}
	}
	for s := range failed {
		delete(within, s)
	}
	text := fmt.Sprintf("%s within budget", count(len(within), "benchmark"))
	if len(failed) > 0 {
		text = fmt.Sprintf("%s over budget or broken, %d within", count(len(failed), "benchmark"), len(within))
	}
	if functions > 0 {
		text += fmt.Sprintf(", and %s of theirs", count(functions, "function"))
	}
	if r.Left > 0 {
		text += fmt.Sprintf("; the change cannot affect %s", count(r.Left, "other"))
	}
	return text + "."
}

func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// label names a benchmark.
func label(b guard.Bench) string {
	text := b.Package + " " + b.Name
	if b.CPU > 1 {
		text += fmt.Sprintf(" (-cpu %d)", b.CPU)
	}
	if b.Site != "" {
		text += " " + b.Site
	}
	return strings.TrimSpace(text)
}

// grown shows one benchmark that is over its budget. Lines that were shown with another benchmark
// are not shown again.
func grown(p *term.Page, b guard.Bench, said map[string]string) {
	p.Blank()
	p.Line(term.Styled(label(b), term.Red), term.Styled("  "+amounts(b.Line.Figure.Amount, b.Now), term.Normal))
	if t := b.Line.Figure.Tolerance; t != (budget.Amount{}) {
		p.Prose("  ", fmt.Sprintf("the budget allows %s; every run was above that", b.Line.Figure), term.Dim)
	}
	if b.From != "" {
		p.Prose("  ", b.From, term.Yellow)
	}
	if len(b.Causes) == 0 {
		p.Prose("  ", noLines(len(said) > 0), term.Dim)
		return
	}
	key := causeKey(b)
	if before := said[key]; before != "" && !b.NoBase {
		p.Line(term.Styled("  "+Place(b.Causes[0]), term.Bold), term.Styled("  "+by(b, b.Causes[0])+", as in "+before, term.Normal))
		return
	}
	said[key] = label(b)
	if b.NoBase {
		p.Prose("  ", "there is no earlier version to compare with; most is allocated at", term.Dim)
	}
	for _, c := range b.Causes {
		cause(p, b, c)
	}
	if text := shared(b); text != "" {
		p.Prose("  ", text, term.Dim)
	}
}

// causeKey is the same for benchmarks that grew by the same line.
func causeKey(b guard.Bench) string {
	c := b.Causes[0]
	return fmt.Sprint(Place(c), " ", c.File, ":", c.Line, " ", c.Via, " ", b.From)
}

// shared explains where a profile counts fewer objects than the benchmark: it counts the blocks of the
// runtime that small objects without pointers share.
func shared(b guard.Bench) string {
	if b.NoBase || b.Base == nil {
		return ""
	}
	grew := budget.Amount{Allocs: b.Now.Allocs - b.Base.Allocs, Bytes: b.Now.Bytes - b.Base.Bytes}
	var seen budget.Amount
	for _, c := range b.Causes {
		g := c.Grown()
		seen.Allocs, seen.Bytes = seen.Allocs+g.Allocs, seen.Bytes+g.Bytes
	}
	if grew.Allocs-seen.Allocs < 0.5 || seen.Bytes < 0.95*grew.Bytes {
		return ""
	}
	return "A profile counts blocks of 16 bytes, which objects below that size without pointers share: the benchmark counts each object."
}

// noLines says that nobody looked for the lines of a benchmark.
func noLines(others bool) string {
	if others {
		return "its lines were not looked for; those above may be the same"
	}
	return "its lines are not known"
}

// cause shows one line.
func cause(p *term.Page, b guard.Bench, c growth.Cause) {
	p.Line(term.Styled("  "+Place(c), term.Bold), term.Styled("  "+by(b, c), term.Normal))
	if c.Text != "" {
		p.Line(term.Styled("      "+term.Clean(c.Text), term.Dim))
	}
	for _, s := range Sentences(c) {
		p.Prose("    ", s, term.Normal)
	}
}

// Place is file:line of the line that is named first for a cause.
func Place(c growth.Cause) string { return fmt.Sprintf("%s:%d", c.At.File, c.At.Line) }

// by says by how much a line grew.
func by(b guard.Bench, c growth.Cause) string {
	if b.NoBase {
		return amount(c.After)
	}
	g := c.Grown()
	return fmt.Sprintf("%s allocs/op, %s B/op", signed(round(g.Allocs)), signed(math.Round(g.Bytes)))
}

// signed shows a difference without an exponent, which %g has from 10,000 on.
func signed(v float64) string {
	if math.Abs(v) >= 1000 {
		return fmt.Sprintf("%+.0f", v)
	}
	return fmt.Sprintf("%+.4g", v)
}

// Sentences say what is known of a cause, each in a sentence.
func Sentences(c growth.Cause) []string {
	var out []string
	if c.Changed && (c.At.Line != c.Line || c.At.File != c.File) {
		out = append(out, fmt.Sprintf("changed here; the memory is allocated at %s:%d%s", c.File, c.Line, via(c)))
	} else if text := via(c); text != "" {
		out = append(out, "allocates"+text)
	}
	if c.Module != "" {
		out = append(out, "the code of "+c.Module+" allocates it")
	}
	if c.Reason.Text != "" {
		text := c.Reason.Text
		if c.Kind != "" {
			text = string(c.Kind) + ": " + text
		}
		if c.Reason.New {
			text += " (new in this build)"
		}
		out = append(out, text)
	}
	if c.Cure != nil {
		out = append(out, fmt.Sprintf("cure: %s – %s", c.Cure.Code, c.Cure.Text))
	}
	return out
}

func via(c growth.Cause) string {
	if c.Via == "" {
		return ""
	}
	return " through " + c.Via
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func amount(a budget.Amount) string {
	return budget.Number(a.Allocs) + " allocs/op, " + budget.Number(a.Bytes) + " B/op"
}

// amounts shows what changed from one amount to another.
func amounts(before, after budget.Amount) string {
	one := func(x, y float64, unit string) string {
		if x == y {
			return budget.Number(x) + " " + unit
		}
		return budget.Number(x) + " → " + budget.Number(y) + " " + unit
	}
	return one(before.Allocs, after.Allocs, "allocs/op") + ", " + one(before.Bytes, after.Bytes, "B/op")
}

// eventTexts say what each status without a figure means, and what to do.
var eventTexts = map[guard.Status]string{
	guard.Status(budget.New):     "has no budget; 'heaptrim guard update' adds its line",
	guard.Status(budget.Renamed): "allocates what %s did; 'heaptrim guard update' moves its line",
	guard.Status(budget.Deleted): "is gone; 'heaptrim guard update' takes its line out",
	guard.Status(budget.Skipped): "skips itself and was not counted",
	guard.Status(budget.Failing): "fails: %s",
	guard.Inherited:              "is over its budget, and so it was in the version before: the budget is out of date",
	guard.Accepted:               "grew, and its budget was raised in the same change",
}

// EventText says what a status means for a benchmark; "" for those that need no words.
func EventText(b guard.Bench) string {
	text := eventTexts[b.Status]
	if b.Status == guard.Shrank && b.Fails() {
		text = "allocates less than its budget; 'heaptrim guard update -shrink' lowers it"
	}
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, b.Why)
	}
	if b.Inherited {
		text += "; so it was in the version before"
	}
	return text
}

func events(p *term.Page, r *guard.Result) {
	first := true
	for _, b := range r.Benches {
		text := EventText(b)
		if text == "" || b.Rule == budget.Adopt {
			continue
		}
		if first {
			p.Blank()
			first = false
		}
		style, lead := term.Yellow, "warning: "
		if b.Fails() {
			style, lead = term.Red, "fails: "
		}
		p.Prose(lead, label(b)+" "+text, style)
	}
}

// contracts shows those that do not hold, and counts the others.
func contracts(p *term.Page, r *guard.Result) {
	if len(r.Contracts) == 0 {
		return
	}
	p.Blank()
	states := map[contract.State]int{}
	for _, c := range r.Contracts {
		states[c.State]++
		if c.Fails() {
			p.Prose("fails: ", contractText(c), term.Red)
		}
	}
	text := fmt.Sprintf("%s: %d proven, %d tested, %d not reached, %d broken", count(len(r.Contracts), "contract"),
		states[contract.Proven], states[contract.Tested], states[contract.NotReached], states[contract.Broken])
	if n := states[contract.Later]; n > 0 {
		text += fmt.Sprintf(", %d of later Go releases", n)
	}
	p.Prose("", text+".", term.Normal)
}

// Wrote writes what init or update did.
func Wrote(w io.Writer, d *guard.Written, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	benches := 0
	for _, l := range d.File.Lines {
		if l.Bench() {
			benches++
		}
	}
	what := fmt.Sprintf("%s: %s of %s", d.Path, count(len(d.File.Lines), "line"), d.File.Home)
	if d.Before != nil {
		what = fmt.Sprintf("%s: %s changed, %d in all", d.Path, count(len(d.Changed), "line"), len(d.File.Lines))
	}
	p.Prose("", what+".", term.Bold)
	switch {
	case d.Varying == 1:
		p.Prose("", "1 line varies by itself between runs and has a tolerance.", term.Normal)
	case d.Varying > 1:
		p.Prose("", fmt.Sprintf("%d lines vary by themselves between runs and have tolerances.", d.Varying), term.Normal)
	}
	if d.Before != nil {
		for _, c := range d.Changed {
			changed(p, c)
		}
	}
	for _, text := range d.Problems {
		p.Prose("not counted: ", text, term.Yellow)
	}
	return p.Flush()
}

func changed(p *term.Page, c guard.Change) {
	name := strings.TrimSpace(c.Package + " " + c.Name + " " + c.Site + " " + c.Keys)
	text := func(f *budget.Figure) string {
		if c.Type() {
			return fmt.Sprintf("%g bytes, size class %g", f.Allocs, f.Bytes)
		}
		return f.String()
	}
	switch {
	case c.Before == nil:
		p.Prose("  ", "+ "+name+"  "+text(c.After), term.Normal)
	case c.After == nil:
		p.Prose("  ", "- "+name+"  "+text(c.Before), term.Normal)
	case c.Type():
		p.Prose("  ", "~ "+name+"  "+text(c.Before)+" → "+text(c.After), term.Normal)
	default:
		p.Prose("  ", "~ "+name+"  "+amounts(c.Before.Amount, c.After.Amount), term.Normal)
	}
}
