package rebuilt

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/idiom"
	"github.com/heaptrim/heaptrim/internal/prescribe/source"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const program = `package m

import (
	"bytes"
	"strings"
)

func bad(c byte) bool { return c < 32 }

func replaced(text string) string {
	var b strings.Builder
	b.Grow(len(text)) // text
	for i := 0; i < len(text); i++ {
		if c := text[i]; bad(c) {
			b.WriteByte('_')
		} else {
			b.WriteByte(c) // text
		}
	}
	return b.String()
}

func escaped(s string) string {
	var b bytes.Buffer
	for _, r := range s {
		switch r {
		case '<':
			b.WriteString("&lt;")
		default:
			b.WriteRune(r) // s
		}
	}
	return b.String()
}

func inBytes(s string) string {
	out := make([]byte, 0, len(s)) // s
	for i := 0; i < len(s); i++ {
		c := s[i]
		if bad(c) {
			out = append(out, '_')
			continue
		}
		if c != 0 {
			out = append(out, c)
		}
	}
	return string(out)
}

func named(name string) string {
	out := make([]byte, len(name)) // name
	j := 0
	for _, c := range name {
		if c > 'a' {
			out[j] = byte(c)
		} else {
			out[j] = '_'
		}
		j++
	}
	return string(out[:j]) // name
}

func sliced(name string) string {
	out := make([]byte, len(name)) // -
	for i, c := range name {
		if c > 'a' {
			out[i] = byte(c)
		} else {
			out[i] = '_'
		}
	}
	fill(out[2:])
	return string(out) // -
}

func shifted(name string) string {
	out := make([]byte, len(name)) // -
	for i, c := range name {
		if c > 'a' {
			out[i] = byte(c) + 1
		} else {
			out[i] = '_'
		}
	}
	return string(out) // -
}

func fill([]byte) {}

func looked(s string) string {
	if !strings.Contains(s, "-") {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r == '-' {
			b.WriteByte('_')
		} else {
			b.WriteRune(r) // -
		}
	}
	return b.String()
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '"' {
			b.WriteString("'")
		} else {
			b.WriteRune(r) // -
		}
	}
	return b.String()
}

func cut(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == ';' {
			break
		}
		if r == '-' {
			b.WriteByte('_')
		} else {
			b.WriteRune(r) // -
		}
	}
	return b.String()
}

func rest(s string) string {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if c := s[i]; bad(c) {
			b.WriteByte('_')
		} else {
			b.WriteByte(c) // -
		}
	}
	return b.String()
}

func upper(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r) // -
		if r == 'x' {
			b.WriteRune('y')
		}
	}
	return b.String()
}

func handed(s string, write func(*strings.Builder)) string {
	var b strings.Builder
	write(&b)
	for _, r := range s {
		if r == 'x' {
			b.WriteRune('y')
		} else {
			b.WriteRune(r) // -
		}
	}
	return b.String()
}

func bytesOf(s string) []byte {
	var out []byte
	for _, c := range []byte(s) {
		if bad(c) {
			out = append(out, '_') // -
		} else {
			out = append(out, c) // -
		}
	}
	return out
}
`

// TestUnchanged holds the text that need not be copied against the comment on a line.
func TestUnchanged(t *testing.T) {
	p, file := sourcetest.Load(t, program)
	for i, text := range strings.Split(program, "\n") {
		_, want, found := strings.Cut(text, "// ")
		l := p.At(file, i+1)
		if !found || l == nil {
			continue
		}
		got := "-"
		for _, e := range l.Exprs {
			if u := Unchanged(place(l, e)); u != "" {
				got = u
			}
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func place(l *source.Line, e *source.Expr) idiom.Place {
	return idiom.Place{Info: l.Info(), Expr: e.Node().(ast.Expr), Path: e.Path(), Line: l.LineOf}
}
