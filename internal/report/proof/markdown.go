package proof

import (
	"bufio"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/prove"
	"github.com/heaptrim/heaptrim/internal/report/md"
)

// Markdown writes a comparison as GitHub-flavoured Markdown for a comment
// on a change: the verdict, what was compared, a table of the metrics that are
// judged, and the others in one that can be opened.
func Markdown(w io.Writer, r *prove.Result) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "**%s**\n\n", md.Text(r.Verdict.Sentence))
	for _, f := range proveFacts(r) {
		fmt.Fprintf(b, "- %s: %s\n", md.Text(f[0]), md.Text(f[1]))
	}
	if len(r.Sides) > 2 {
		markdownSubjects(b, r)
	} else {
		markdownPair(b, r)
	}
	md.List(b, "Cannot be compared", incomparable(r))
	md.List(b, "Left out", r.LeftOut)
	md.List(b, "Warnings", allProveWarnings(r))
	return b.Flush()
}

// markdownPair has the tables of two sides.
func markdownPair(b *bufio.Writer, r *prove.Result) {
	b.WriteString("\n| benchmark | metric | A | B | change |  | basis |\n|---|---|--:|--:|--:|---|---|\n")
	rows(r, true, func(c prove.Comparison, ch prove.Change) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", md.Code(c.Name), md.Text(ch.Unit), md.Text(
			metricValue(ch.Unit, ch.A.Value),
		),
			md.Text(metricValue(ch.Unit, ch.B.Value)), md.Text(changeText(ch)), mdOutcome(ch.Outcome),
			md.Text(basisText(ch)))
	})
	b.WriteString(
		"\n<details><summary>Beside: CPU, collector and memory, not judged</summary>\n\n| benchmark | metric | A " +
			"| B | change |\n|---|---|--:|--:|--:|\n",
	)
	rows(r, false, func(c prove.Comparison, ch prove.Change) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", md.Code(c.Name), md.Text(ch.Label),
			md.Text(intervalText(ch.Unit, ch.A)),
			md.Text(intervalText(ch.Unit, ch.B)), md.Text(changeText(ch)))
	})
	b.WriteString("\n</details>\n")
}

// rows calls visit for each metric that is judged, or for each that is not.
func rows(r *prove.Result, judged bool, visit func(prove.Comparison, prove.Change)) {
	for _, c := range r.Comparisons {
		for _, ch := range c.Changes {
			if ch.Judged == judged {
				visit(c, ch)
			}
		}
	}
}

func mdOutcome(o prove.Outcome) string {
	switch o {
	case prove.Better, prove.Worse:
		return "**" + string(o) + "**"
	}
	return string(o)
}

func incomparable(r *prove.Result) []string {
	var out []string
	for _, c := range r.Comparisons {
		for i, f := range c.Failed {
			// All comparisons have the same A.
			if f != "" && (i > 0 || c.Side <= 1) {
				out = append(out, fmt.Sprintf("%s fails in %s: %s", c.Name, prove.Letter(i*max(c.Side, 1)), f))
			}
		}
		for _, d := range c.Differs {
			out = append(out, c.Name+": the work differs: "+d)
		}
	}
	return out
}

func allProveWarnings(r *prove.Result) []string {
	out := append([]string{}, r.Warnings...)
	for _, c := range r.Comparisons {
		for _, w := range proveWarnings(c) {
			out = append(out, c.Name+": "+w)
		}
	}
	return out
}
