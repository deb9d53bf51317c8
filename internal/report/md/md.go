// Package md writes Markdown of names and sentences from any source, so that nothing in them
// acts as markup.
package md

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/heaptrim/heaptrim/internal/report/term"
)

// List writes a list of sentences below a title, or nothing of none.
func List(b *bufio.Writer, title string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", title)
	for _, s := range items {
		b.WriteString("- " + Text(s) + "\n")
	}
}

// Code makes a code span. In one, only its own delimiter and the table's
// mean anything; they are written as Go escapes, because Markdown's own way to
// escape a bar behind a backslash differs between renderers.
func Code(s string) string {
	s = strings.NewReplacer("|", `\x7c`, "`", `\x60`).Replace(term.Clean(s))
	if strings.TrimSpace(s) == "" {
		return term.Dash
	}
	return "`" + s + "`"
}

// Prose escapes a sentence and makes code spans of what stands between
// backquotes in it.
func Prose(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return Text(s)
	}
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 {
			b.WriteString(Text(part))
		} else {
			b.WriteString(Code(part))
		}
	}
	return b.String()
}

// Text escapes text. Entities are text that no rule of Markdown interprets. GitHub looks for
// mentions and references after that, so an empty comment separates their sign from the
// name.
func Text(s string) string {
	return strings.NewReplacer(
		"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", `\`, "&#92;",
		"*", "&#42;", "_", "&#95;", "[", "&#91;", "]", "&#93;", "~", "&#126;", "$", "&#36;", "!", "&#33;",
		"@", "@<!-- -->", "#", "#<!-- -->", "://", ":<!-- -->//", "www.", "www<!-- -->.",
	).Replace(term.Clean(s))
}

// Block makes a fenced block of code that nothing in its lines ends.
func Block(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	var b strings.Builder
	b.WriteString(fence + language + "\n")
	for line := range strings.Lines(text) {
		b.WriteString(strings.ReplaceAll(term.Clean(strings.TrimRight(line, "\r\n")), `\t`, "\t") + "\n")
	}
	b.WriteString(fence)
	return b.String()
}
