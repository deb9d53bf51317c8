package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes a string from a profile, a log or a source file harmless on a
// terminal: whatever is not printable – control characters, escape sequences,
// direction overrides, zero-width characters, broken UTF-8 – is written as a
// Go escape. clean(clean(s)) is clean(s).
func Clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

// CleanLines cleans each line of a message, which may hold names and output of others.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(Clean(l), `\t`, "\t")
	}
	return strings.Join(lines, "\n")
}

// plain reports whether s is printable ASCII.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Cells is the number of terminal cells that a clean string takes.
func Cells(s string) int {
	n := 0
	for _, r := range s {
		n += runeCells(r)
	}
	return n
}

// runeCells is 2 for the scripts and pictures that terminals draw wide.
func runeCells(r rune) int {
	switch {
	case r < 0x1100:
		return 1
	case r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0xffe0 && r <= 0xffe6,
		r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

// head returns the longest prefix of s that fits in n cells.
func head(s string, n int) string {
	for i, r := range s {
		if n -= runeCells(r); n < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest suffix of s that fits in n cells.
func tail(s string, n int) string {
	i := len(s)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if n -= runeCells(r); n < 0 {
			break
		}
		i -= size
	}
	return s[i:]
}

// ElideEnd cuts s to n cells, for prose.
func ElideEnd(s string, n int) string {
	if Cells(s) <= n {
		return s
	}
	return strings.TrimRight(head(s, max(n-1, 0)), " ") + "…"
}

// ElideMiddle cuts s to n cells and keeps more of its end, which tells names
// and paths apart.
func ElideMiddle(s string, n int) string {
	if Cells(s) <= n {
		return s
	}
	first := max(n-1, 0) / 3
	h := head(s, first)
	return h + "…" + tail(s, max(n-1-Cells(h), 0))
}

// PadRight fills s with spaces to n cells.
func PadRight(s string, n int) string { return s + strings.Repeat(" ", max(n-Cells(s), 0)) }

// PadLeft fills s with spaces before it to n cells.
func PadLeft(s string, n int) string { return strings.Repeat(" ", max(n-Cells(s), 0)) + s }
