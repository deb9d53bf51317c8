package schema

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// Write writes doc as JSON that people can read, with a newline at its end.
func Write(w io.Writer, doc any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	l := layout{w: bufio.NewWriter(w)}
	l.write(bytes.TrimSpace(b.Bytes()))
	l.w.WriteByte('\n')
	return l.w.Flush()
}

// layout indents compact JSON, with intervals, frames and other small values on
// one line each: a large report is a third of the size that one value a line
// would give.
type layout struct {
	w     *bufio.Writer
	depth int
}

// write lays out a valid document without space between its tokens.
func (l *layout) write(doc []byte) {
	for i := 0; i < len(doc); {
		n := 1
		switch doc[i] {
		case '"':
			n = stringEnd(doc[i:])
			l.text(doc[i : i+n])
		case '{', '[':
			if n = small(doc[i:]); n > 0 {
				l.text(doc[i : i+n])
				break
			}
			n = 1
			l.w.WriteByte(doc[i])
			l.depth++
			l.newline()
		case '}', ']':
			l.depth--
			l.newline()
			l.w.WriteByte(doc[i])
		case ',':
			l.w.WriteByte(',')
			l.newline()
		case ':':
			l.w.WriteString(": ")
		default:
			l.w.WriteByte(doc[i])
		}
		i += n
	}
}

func (l *layout) newline() {
	l.w.WriteByte('\n')
	for range l.depth {
		l.w.WriteString("  ")
	}
}

// text writes what encoding/json leaves raw but a terminal may obey – C1
// controls, direction overrides – as \u escapes. Outside strings there is
// none, so the document means the same.
func (l *layout) text(s []byte) {
	for len(s) > 0 {
		if s[0] < 0x7f {
			l.w.WriteByte(s[0])
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRune(s)
		switch {
		case unicode.IsPrint(r):
			l.w.Write(s[:n])
		case r < 0x10000:
			fmt.Fprintf(l.w, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(l.w, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
		s = s[n:]
	}
}

// stringEnd is the length of the string that doc begins with.
func stringEnd(doc []byte) int {
	for i := 1; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// small is the length of the object or list that doc begins with if it fits in
// a line and holds no other, else 0.
func small(doc []byte) int {
	const most = 160
	for i := 1; i < min(most, len(doc)); i++ {
		switch doc[i] {
		case '"':
			i += stringEnd(doc[i:]) - 1
		case '{', '[':
			return 0
		case '}', ']':
			return i + 1
		}
	}
	return 0
}
