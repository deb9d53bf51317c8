package report

import (
	"bufio"
	"fmt"
	"io"

	"github.com/heaptrim/heaptrim/internal/prove"
)

// ProveMarkdown writes a comparison as GitHub-flavoured Markdown for a comment
// on a change: the verdict, what was compared, a table of the metrics that are
// judged, and the others in one that can be opened.
func ProveMarkdown(w io.Writer, r *prove.Result) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "**%s**\n\n", mdText(r.Verdict.Sentence))
	for _, f := range proveFacts(r) {
		fmt.Fprintf(b, "- %s: %s\n", mdText(f[0]), mdText(f[1]))
	}
	if len(r.Sides) > 2 {
		markdownSubjects(b, r)
	} else {
		markdownPair(b, r)
	}
	mdList(b, "Cannot be compared", incomparable(r))
	mdList(b, "Left out", r.LeftOut)
	mdList(b, "Warnings", allProveWarnings(r))
	return b.Flush()
}

// markdownPair has the tables of two sides.
func markdownPair(b *bufio.Writer, r *prove.Result) {
	b.WriteString("\n| benchmark | metric | A | B | change |  | basis |\n|---|---|--:|--:|--:|---|---|\n")
	rows(r, true, func(c prove.Comparison, ch prove.Change) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", mdCode(c.Name), mdText(ch.Unit), mdText(
			metricValue(ch.Unit, ch.A.Value),
		),
			mdText(metricValue(ch.Unit, ch.B.Value)), mdText(changeText(ch)), mdOutcome(ch.Outcome), mdText(basisText(ch)))
	})
	b.WriteString(
		"\n<details><summary>Beside: CPU, collector and memory, not judged</summary>\n\n| benchmark | metric | A " +
			"| B | change |\n|---|---|--:|--:|--:|\n",
	)
	rows(r, false, func(c prove.Comparison, ch prove.Change) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", mdCode(c.Name), mdText(ch.Label), mdText(intervalText(ch.Unit, ch.A)),
			mdText(intervalText(ch.Unit, ch.B)), mdText(changeText(ch)))
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
			// Each comparison says of A what the first said.
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
