// Package catalogue shows the cures of the catalogue: on a terminal, as plain text, and as the
// pages of doc/cures.
package catalogue

import (
	"fmt"
	"go/format"
	"io"
	"strings"

	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
	"github.com/heaptrim/heaptrim/internal/report/term"
)

// safeties says what each safety of a cure means.
var safeties = map[cures.Safety]string{
	cures.Safe:   "the program behaves the same",
	cures.Review: "right where its conditions hold, which a person has to check",
	cures.Advice: "a matter of design: no tool can say what the change is",
}

// List writes the catalogue as a list of codes and titles.
func List(w io.Writer, catalogue []cures.Cure, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	wide := 0
	for _, c := range catalogue {
		wide = max(wide, term.Cells(c.Code))
	}
	for _, c := range catalogue {
		p.Line(
			term.Styled(term.PadRight(c.Code, wide), term.Bold+";"+term.Green),
			term.Styled("  "+term.PadRight(string(c.Safety), len(cures.Review)),
				term.Dim), term.Styled("  "+c.Title, term.Normal),
		)
	}
	return p.Flush()
}

// Entry writes one entry of the catalogue in full.
func Entry(w io.Writer, c cures.Cure, o term.Options) error {
	p := term.New(w, o.Width, o.Color)
	p.Line(term.Styled(c.Code, term.Bold+";"+term.Green), term.Styled("  "+c.Title, term.Bold))
	p.Prose("  ", string(c.Safety)+": "+safeties[c.Safety]+".", term.Dim)
	p.Section("How it saves", "")
	p.Prose("  ", c.Why, term.Normal)
	p.Section("Example", "")
	Example(p, c)
	p.Section("Limits", "")
	p.Prose("  ", c.WhenNot, term.Normal)
	p.Section("Evidence that it takes", "")
	p.Prose("  ", term.FullSentence(c.Needs), term.Normal)
	hits(p, c)
	return p.Flush()
}

// hits says how often the rules of a cure were right.
func hits(p *term.Page, c cures.Cure) {
	all := cures.Rates(c.Code)
	if len(all) == 0 {
		return
	}
	p.Section("How often it is right", "on the train cases of lab/truth, "+cures.Rated)
	wide := 0
	for _, r := range all {
		wide = max(wide, term.Cells(r.Rule))
	}
	for _, r := range all {
		p.Line(term.Styled(fmt.Sprintf("  %s  %d of %d, in %d modules", term.PadRight(r.Rule, wide), r.Right, r.Named, r.Modules), term.Normal))
	}
}

// Example shows a cure's code before and after.
func Example(p *term.Page, c cures.Cure) {
	for _, part := range []struct{ name, code string }{{"before", c.Before}, {"after", c.After}} {
		p.Line(term.Styled("  "+part.name, term.Dim))
		for _, l := range codeLines(part.code) {
			p.Line(term.Styled("    "+strings.ReplaceAll(l, "\t", "    "), term.Cyan))
		}
	}
}

func codeLines(code string) []string { return strings.Split(strings.Trim(code, "\n"), "\n") }

// Markdown is one entry of the catalogue as a page of Markdown.
func Markdown(c cures.Cure) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s: %s\n\n", c.Code, mdOurs(c.Title))
	fmt.Fprintf(&b, "**%s**: %s.\n\n", c.Safety, safeties[c.Safety])
	fmt.Fprintf(&b, "%s\n\n", mdOurs(c.Why))
	fmt.Fprintf(&b, "Before:\n\n%s\nAfter:\n\n%s\n", fence(c.Before), fence(c.After))
	fmt.Fprintf(&b, "**Limits.** %s\n\n", mdOurs(c.WhenNot))
	fmt.Fprintf(&b, "**Evidence that it takes:** %s.\n", mdOurs(c.Needs))
	return []byte(b.String())
}

// Text is one entry of the catalogue as plain text.
func Text(c cures.Cure) string {
	return fmt.Sprintf(
		"%s\n\nBefore:\n\n%s\n\nAfter:\n\n%s\n\nLimits: %s", c.Why, strings.Join(codeLines(c.Before), "\n"),
		strings.Join(codeLines(c.After), "\n"), c.WhenNot,
	)
}

// mdOurs escapes a sentence of the catalogue. It is our own text, so little escaping is
// enough.
func mdOurs(s string) string {
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", "&lt;", "|", `\|`).Replace(s)
}

// Index is the catalogue as a page of Markdown that links to the page of
// each entry, CODE.md beside it.
func Index(catalogue []cures.Cure) []byte {
	var b strings.Builder
	b.WriteString("# Cures\n\n")
	b.WriteString("What `heaptrim check` may name as the change for a line, or for the program as a whole. ")
	b.WriteString(
		"`heaptrim explain CODE` shows the same at the terminal. These pages are generated from the catalogue in " +
			"`internal/prescribe`.\n\n",
	)
	b.WriteString("| code | what to do | safety |\n|---|---|---|\n")
	for _, c := range catalogue {
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", c.Code, c.Code, mdOurs(c.Title), c.Safety)
	}
	b.WriteString("\nSafety says how far a cure can be trusted to change nothing but the cost:\n\n")
	for _, s := range []cures.Safety{cures.Safe, cures.Review, cures.Advice} {
		fmt.Fprintf(&b, "* **%s**: %s.\n", s, safeties[s])
	}
	return []byte(b.String())
}

// fence makes a code block. Code that gofmt leaves unchanged is marked as Go.
func fence(code string) string {
	language := ""
	if out, err := format.Source([]byte(code)); err == nil && string(out) == code {
		language = "go"
	}
	return "```" + language + "\n" + strings.Join(codeLines(code), "\n") + "\n```\n"
}
