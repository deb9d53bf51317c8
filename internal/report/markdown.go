package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/finding"
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
		fmt.Fprintf(b, "**Memory management takes %s of CPU time.**", mdText(sharePercent(t.MemoryShare)))
	} else {
		b.WriteString("**What share of CPU time memory management takes is not known: needs a CPU profile.**")
	}
	if t.Why != "" {
		b.WriteString(" " + mdText(sentence(t.Why)))
	}
	if s := outlook(rep, k); s != "" {
		b.WriteString(" **" + mdText(s) + "**")
	}
	b.WriteString("\n\n")
	facts := append(append([]string{targetName(rep.Diagnosis.Target)}, cycleFacts(t)...), heapFacts(t)...)
	facts = append(facts, setting("GOGC", rep.Diagnosis.Environment.GOGC), rep.Diagnosis.Environment.GoVersion)
	b.WriteString(mdText(joinKnown(facts)) + "\n")
	mdDecomposition(b, rep)
	mdFindings(b, rep, k)
	for _, s := range []string{leftOut(rep), overcharged(rep, k)} {
		if s != "" {
			b.WriteString("\n" + mdText(s) + "\n")
		}
	}
	mdList(b, "For the program as a whole", adviceTexts(rep, k))
	mdList(b, "Source rules on hot lines", ruleTexts(rep.Rules, k))
	mdList(b, "Not known", missingTexts(rep))
	mdList(b, "Warnings", rep.Warnings)
	return b.Flush()
}

func mdDecomposition(b *bufio.Writer, rep *finding.Report) {
	parts := segments(rep.Diagnosis.Decomposition, false)
	if len(parts) == 0 {
		return
	}
	b.WriteString("\n| where CPU time goes | % of CPU | ± |  |\n|---|--:|--:|---|\n")
	for _, s := range parts {
		glyph := otherGlyph
		if s.glyph != otherGlyph {
			glyph = memoryGlyphs[0]
		}
		bar := strings.Repeat(glyph, min(max(int(s.share.Value*40+0.5), 0), 40))
		fmt.Fprintf(
			b, "| %s | %s | %s | %s |\n", mdText(s.name), mdText(percent(s.share.Value)), mdText(percent(half(s.share))),
			bar,
		)
	}
	for _, r := range rep.Diagnosis.Decomposition {
		if !r.Charged && some(r.Share.Value) {
			fmt.Fprintf(
				b, "| %s (not charged) | %s | %s |  |\n", mdText(r.Name), mdText(percent(r.Share.Value)),
				mdText(percent(half(r.Share))),
			)
		}
	}
}

func mdFindings(b *bufio.Writer, rep *finding.Report, k known) {
	shown := rep.Prescription.Rows[:min(defaultTop, len(rep.Prescription.Rows))]
	if len(shown) == 0 {
		b.WriteString("\nNo allocation site of your code stands out in this recording.\n")
		return
	}
	per := k.per()
	fmt.Fprintf(
		b,
		"\n| # | saves %s | costs %% of CPU | B%s | objects%s | where | function | what to do "+
			"|\n|--:|--:|--:|--:|--:|---|---|---|\n",
		k.savedIn(), per, per,
	)
	for i, f := range shown {
		cpu := dash
		if k.cpu {
			cpu = percent(f.Cost.CPU.Value) + plusMinus(f.Cost.CPU)
		}
		bytes, objects := k.amounts(f.Cost)
		fmt.Fprintf(b, "| %d | %s | %s | %s | %s | %s | %s | %s |\n", rankOf(rep, i), mdText(
			strings.TrimSpace(k.savingCell(f)),
		), mdText(cpu), amount(bytes.Value, unit.FormatBytes),
			amount(
				objects.Value, unit.FormatScaled,
			), mdCode(place(f.Site)), mdCode(shortName(f.Site.Function)), mdProse(whatToDo(f)))
	}
	if n := len(rep.Prescription.Rows) - len(shown); n > 0 {
		fmt.Fprintf(b, "\n… and %d more.\n", n)
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
		cost := percent(h.Cost.BytesShare) + " % of bytes"
		if k.cpu {
			cost = sharePercent(h.Cost.CPU) + " of CPU, " + cost
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

func mdList(b *bufio.Writer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, s := range items {
		b.WriteString("- " + mdText(s) + "\n")
	}
}

// mdCode makes a code span. In one, only its own delimiter and the table's
// mean anything; they are written as Go escapes, because Markdown's own way to
// escape a bar behind a backslash differs between renderers.
func mdCode(s string) string {
	s = strings.NewReplacer("|", `\x7c`, "`", `\x60`).Replace(clean(s))
	if strings.TrimSpace(s) == "" {
		return dash
	}
	return "`" + s + "`"
}

// mdProse escapes a sentence and makes code spans of what stands between
// backquotes in it.
func mdProse(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return mdText(s)
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 {
			b.WriteString(mdText(part))
		} else {
			b.WriteString(mdCode(part))
		}
	}
	return b.String()
}

// mdText escapes text. Entities make text that no rule of Markdown looks at;
// GitHub looks for mentions and references after that, so an empty comment
// parts their sign from the name.
func mdText(s string) string {
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", `\`, "&#92;",
		"*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "~", "&#126;", "$", "&#36;", "!", "&#33;",
		"@", "@<!-- -->", "#", "#<!-- -->", "://", ":<!-- -->//", "www.", "www<!-- -->.",
	).Replace(clean(s))
}
