package rebuilt

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const gathering = `package m

import (
	"bytes"
	"strings"
)

func until(s string, index *int, end byte) []byte {
	var out []byte
	i := *index
	for ; i < len(s); i = i + 1 {
		if s[i] == end {
			*index = i + 1
			return out
		}
		out = append(out, s[i]) // s
	}
	return out
}

func fields(record string, cut func(int) bool) (all []string) {
	var b bytes.Buffer
	n := 0
	for _, r := range record {
		n++
		b.WriteRune(r) // record
		if cut(n) {
			all = append(all, b.String()) // record
			b.Reset()
		}
	}
	return all
}

func word(s string) string {
	out := make([]rune, 0, 8)
	for _, r := range s {
		if r == ' ' {
			break
		}
		out = append(out, r) // s
	}
	return string(out) // s
}

func skipped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == ' ' {
			continue
		}
		b.WriteRune(r) // -
	}
	return b.String() // -
}

func chosen(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r != ' ' {
			b.WriteRune(r) // -
		}
	}
	return b.String() // -
}

func escaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		}
		b.WriteByte(s[i]) // -
	}
	return b.String() // -
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		b.WriteRune(r) // -
	}
	return b.String() // -
}

func lower(s string) []byte {
	var out []byte
	for _, r := range s {
		out = append(out, byte(r|32)) // -
	}
	return out
}

func bytewise(s []byte) []byte {
	var out []byte
	for i := 0; i < len(s); i++ {
		out = append(out, s[i]) // -
	}
	return out
}

func masked(s string) []byte {
	var out []byte
	for i := 0; i < len(s); i++ {
		out = append(out, s[i]) // -
		if i > 0 {
			out[i-1] = '*'
		}
	}
	return out
}

func onto(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		out = append(out, s[i]) // -
	}
	return out
}

func together(all []string) (lines []string) {
	var b strings.Builder
	for _, s := range all {
		for _, r := range s {
			b.WriteRune(r) // -
		}
	}
	for _, s := range all {
		var line []rune
		for _, r := range s {
			line = append(line, r) // s
		}
		lines = append(lines, string(line)) // s
	}
	return append(lines, b.String()) // -
}

func backwards(s string) []byte {
	var out []byte
	for i := len(s) - 1; i >= 0; i-- {
		out = append(out, s[i]) // -
	}
	return out
}
`

// TestPiece: texts that are gathered character by character as they are.
func TestPiece(t *testing.T) {
	p, file := sourcetest.Load(t, gathering)
	for i, text := range strings.Split(gathering, "\n") {
		_, want, found := strings.Cut(text, "// ")
		if !found {
			continue
		}
		got := "-"
		for _, e := range p.At(file, i+1).Exprs {
			if u := Piece(place(p.At(file, i+1), e)); u != "" {
				got = u
			}
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
