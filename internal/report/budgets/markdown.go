package budgets

import (
	"bufio"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/guard"
	"github.com/heaptrim/heaptrim/internal/guard/budget"
	"github.com/heaptrim/heaptrim/internal/guard/contract"
	"github.com/heaptrim/heaptrim/internal/report/md"
)

// Marker is the first line of a comment, by which a later run finds it.
const Marker = "<!-- heaptrim guard -->"

// MarkdownOptions are what a comment holds beside the result.
type MarkdownOptions struct {
	Page string // URL of the page, for a link; "" for none
}

// Markdown writes a result as a comment on a change: what is different, and details that can be
// opened.
func Markdown(w io.Writer, r *guard.Result, o MarkdownOptions) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n**%s**\n", Marker, md.Text(headline(r)))
	differing := table(b, r)
	if !differing {
		b.WriteString("\nNo benchmark that was counted allocates another amount than before.\n")
	}
	details(b, r)
	contractTable(b, r)
	md.List(b, "Warnings", append(eventList(r), r.Warnings...))
	md.List(b, "Dependencies with another version", r.Dependency)
	fmt.Fprintf(b, "\n<sub>%s", md.Text(r.Env.String()))
	if r.Commit != "" {
		fmt.Fprintf(b, ", compared with %s", md.Code(r.Commit[:min(12, len(r.Commit))]))
	}
	if o.Page != "" {
		fmt.Fprintf(b, ", [all lines](<%s>)", o.Page)
	}
	b.WriteString("</sub>\n")
	return b.Flush()
}

// before is what a benchmark allocated before the change: at the base, or else by its line.
func before(b guard.Bench) (budget.Amount, bool) {
	switch {
	case b.Base != nil:
		return *b.Base, true
	case b.Line != nil:
		return b.Line.Figure.Amount, true
	}
	return budget.Amount{}, false
}

// table has the benchmarks that differ. It reports whether there are any.
func table(b *bufio.Writer, r *guard.Result) bool {
	first := true
	for _, bench := range r.Benches {
		was, known := before(bench)
		if bench.Ops == 0 || bench.Status == guard.Within && (!known || alike(bench, was)) {
			continue
		}
		if first {
			b.WriteString("\n| benchmark | allocs/op | B/op | | line |\n|---|--:|--:|---|---|\n")
			first = false
		}
		line := ""
		if len(bench.Causes) > 0 {
			line = md.Code(Place(bench.Causes[0]))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", md.Code(label(bench)), step(known, was.Allocs, bench.Now.Allocs),
			step(known, was.Bytes, bench.Now.Bytes), md.Text(mark(bench)), line)
	}
	return !first
}

// alike reports whether a benchmark allocates as before, as far as that varies by itself.
func alike(b guard.Bench, was budget.Amount) bool {
	f := budget.Figure{Amount: was, Ops: b.Ops}
	if b.Line != nil {
		f.Tolerance = b.Line.Figure.Tolerance
	}
	allocs, bytes := f.Over(b.Now)
	return !allocs && !bytes && !f.Below(b.Now)
}

func step(known bool, before, after float64) string {
	if !known || before == after {
		return budget.Number(after)
	}
	return budget.Number(before) + " → " + budget.Number(after)
}

// mark is the status in a word or two.
func mark(b guard.Bench) string {
	switch {
	case b.Status == guard.Grew:
		return "❌ over budget"
	case b.Status == guard.Accepted && b.Line.Reason != "":
		return "accepted: " + b.Line.Reason
	case b.Status == guard.Shrank:
		return "✅ less"
	}
	return string(b.Status)
}

// details shows the lines of what grew, closed. Benchmarks that grew by the same line share them.
func details(b *bufio.Writer, r *guard.Result) {
	var order []string
	same := map[string][]*guard.Bench{}
	for _, bench := range r.Grown() {
		if len(bench.Causes) == 0 {
			continue
		}
		key := causeKey(*bench)
		if same[key] == nil {
			order = append(order, key)
		}
		same[key] = append(same[key], bench)
	}
	for _, key := range order {
		bench := *same[key][0]
		title := "lines of " + label(bench)
		if n := len(same[key]) - 1; n > 0 {
			title += " and " + count(n, "other")
		}
		fmt.Fprintf(b, "\n<details><summary>%s</summary>\n\n", md.Text(title))
		if bench.From != "" {
			fmt.Fprintf(b, "%s\n\n", md.Text(bench.From))
		}
		for _, c := range bench.Causes {
			fmt.Fprintf(b, "- %s %s\n", md.Code(Place(c)), md.Text(by(bench, c)))
			if c.Text != "" {
				fmt.Fprintf(b, "  - %s\n", md.Code(c.Text))
			}
			for _, s := range Sentences(c) {
				fmt.Fprintf(b, "  - %s\n", md.Prose(s))
			}
		}
		if text := shared(bench); text != "" {
			fmt.Fprintf(b, "\n%s\n", md.Text(text))
		}
		b.WriteString("\n</details>\n")
	}
}

func contractTable(b *bufio.Writer, r *guard.Result) {
	var broken []string
	for _, c := range r.Contracts {
		if c.Fails() {
			broken = append(broken, contractText(c))
		}
	}
	md.List(b, "Contracts that do not hold", broken)
}

// contractText says in a line what is known of a contract.
func contractText(c contract.Result) string {
	text := fmt.Sprintf("%s: %s promises %s: %s", c.Place, c.Name, c.Directive, c.State)
	if c.Why != "" {
		text += ", " + c.Why
	}
	if c.At.File != "" && c.At != c.Place {
		text += " at " + c.At.String()
	}
	if c.Inherited {
		text += "; so it was in the version before"
	}
	return text
}

// eventList has the benchmarks without a figure to compare.
func eventList(r *guard.Result) []string {
	var out []string
	for _, b := range r.Benches {
		if text := EventText(b); text != "" && b.Rule != budget.Adopt {
			out = append(out, label(b)+" "+text)
		}
	}
	return out
}
