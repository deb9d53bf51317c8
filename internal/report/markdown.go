package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/report/bar"
	"github.com/heaptrim/heaptrim/internal/report/facts"
	"github.com/heaptrim/heaptrim/internal/report/md"
	"github.com/heaptrim/heaptrim/internal/report/term"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Markdown writes a diagnosis as GitHub-flavoured Markdown, short enough for a
// comment on a change: headline, decomposition, the first 15 findings with
// their cures, and advice. No name in it can open a tag, a link, a mention or
// another table cell.
func Markdown(w io.Writer, rep *finding.Report) error {
	b := bufio.NewWriter(w)
	k := knownOf(rep)
	t := rep.Diagnosis.Totals
	if k.cpu {
		fmt.Fprintf(b, "**Memory management takes %s of CPU time.**", md.Text(term.SharePercent(t.MemoryShare)))
	} else {
		b.WriteString("**What share of CPU time memory management takes is not known: " + lacksCPU(t) + ".**")
	}
	if t.Why != "" {
		b.WriteString(" " + md.Text(term.Sentence(t.Why)))
	}
	if s := outlook(rep, k); s != "" {
		b.WriteString(" **" + md.Text(s) + "**")
	}
	b.WriteString("\n\n")
	b.WriteString(md.Text(term.JoinKnown(facts.Listed(rep.Diagnosis))) + "\n")
	mdDecomposition(b, rep)
	md.List(b, "For the program as a whole", adviceTexts(rep, k))
	mdFindings(b, rep, k)
	for _, s := range []string{savingsAbove(rep, k), sumsOfLines(rep), findingsShown(rep, defaultTop, pageFlags), overcharged(rep, k)} {
		if s != "" {
			b.WriteString("\n" + md.Text(s) + "\n")
		}
	}
	md.List(b, "Source rules on hot lines", ruleTexts(rep.Rules, k))
	md.List(b, "Not known", missingTexts(rep))
	md.List(b, "Warnings", rep.Warnings)
	return b.Flush()
}

// pageFlags are those of the page, which has all findings: the length of this table is fixed.
func pageFlags(n int, below bool) string {
	switch {
	case below && n > defaultTop:
		return "-threshold 0, in the page (-html)"
	case below:
		return "-threshold 0"
	}
	return "in the page (-html)"
}

func mdDecomposition(b *bufio.Writer, rep *finding.Report) {
	parts := bar.Segments(rep.Diagnosis.Groups, false)
	if len(parts) == 0 {
		return
	}
	b.WriteString("\n| where CPU time goes | % of CPU | ± |  |\n|---|--:|--:|---|\n")
	for _, s := range parts {
		glyph := bar.Solid
		if s.Glyph == bar.Light {
			glyph = bar.Light
		}
		drawn := strings.Repeat(glyph, min(max(int(s.Share.Value*40+0.5), 0), 40))
		fmt.Fprintf(
			b, "| %s | %s | %s | %s |\n", md.Text(s.Name), md.Text(term.Percent(s.Share.Value)),
			md.Text(term.Percent(term.Half(s.Share))),
			drawn,
		)
	}
	for _, r := range rep.Diagnosis.Decomposition {
		if !r.Charged && term.Some(r.Share.Value) {
			fmt.Fprintf(
				b, "| %s (not charged) | %s | %s |  |\n", md.Text(r.Name), md.Text(term.Percent(r.Share.Value)),
				md.Text(term.Percent(term.Half(r.Share))),
			)
		}
	}
}

func mdFindings(b *bufio.Writer, rep *finding.Report, k known) {
	shown := rep.Prescription.Rows[:min(defaultTop, len(rep.Prescription.Rows))]
	if len(shown) == 0 {
		b.WriteString("\nNo allocation site of your code has a notable cost in this recording.\n")
		return
	}
	per := k.per()
	fmt.Fprintf(
		b,
		"\n| # | saves %s | costs %% of CPU | B%s | objects%s | where | function | what to do "+
			"|\n|--:|--:|--:|--:|--:|---|---|---|\n",
		k.savedIn(), per, per,
	)
	for _, e := range first(rep, len(shown)) {
		f := e.row
		if e.lines > 0 {
			fmt.Fprintf(b, "|  | %s |  |  |  | %s | %s |  |\n", md.Text(strings.TrimSpace(k.savingCell(f))),
				md.Text(linesText(e.lines)), md.Code(shortName(f.Site.Function)))
			continue
		}
		cpu := term.Dash
		if k.cpu {
			cpu = strings.TrimSpace(costCell(f.Cost))
		}
		bytes, objects := k.amounts(f.Cost)
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s | %s | %s |\n", f.Rank, md.Text(
			strings.TrimSpace(k.savingCell(f)),
		), md.Text(cpu), term.Amount(bytes.Value, unit.FormatBytes),
			term.Amount(
				objects.Value, unit.FormatScaled,
			), md.Code(place(f.Site)), md.Code(shortName(f.Site.Function)), md.Prose(whatToDo(f)+besideRemark(f)+placesRemark(f)+callersRemark(f)))
	}
}

// savedIn is the unit of the savings.
func (k known) savedIn() string {
	if k.cpu {
		return "% of CPU"
	}
	return "B" + k.per()
}

func adviceTexts(rep *finding.Report, k known) []string {
	var out []string
	for _, a := range rep.Advice {
		text := tag(a.Remedy.Code) + a.Title + ": " + a.Remedy.Text
		if s := savedText(a.Remedy.Saves, k); s != "" {
			text += " (saves " + s + ")"
		}
		out = append(out, text)
	}
	return out
}

func ruleTexts(hits []finding.RuleHit, k known) []string {
	var out []string
	for _, h := range hits[:min(shownRules, len(hits))] {
		cost := term.Percent(h.Cost.BytesShare) + " % of bytes"
		if k.cpu {
			cost = term.SharePercent(h.Cost.CPU) + " of CPU, " + cost
		}
		out = append(out, fmt.Sprintf("%s: %s%s (%s)", place(h.Cost.Site), tag(h.Code), h.Message, cost))
	}
	return out
}

func missingTexts(rep *finding.Report) []string {
	var out []string
	for _, m := range rep.Diagnosis.Gaps {
		out = append(out, m.What+": "+m.Adds)
	}
	return out
}
