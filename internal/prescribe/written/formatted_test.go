package written

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
	"fmt"
	"io"
	"strings"
)

type level int

func (l level) String() string { return "x" }

func text(name string, n int) string {
	var sb strings.Builder // sb
	sb.WriteString(name)
	fmt.Fprintf(&sb, " n=%d", n)
	return sb.String()
}

func kept(name string) []byte {
	buf := &bytes.Buffer{} // buf
	fmt.Fprint(buf, name, true)
	return buf.Bytes()
}

func made(name string) []byte {
	buf := new(bytes.Buffer) // buf
	fmt.Fprintln(buf, name)
	return buf.Bytes()
}

func any_(v any) string {
	var sb strings.Builder // -
	fmt.Fprint(&sb, v)
	return sb.String()
}

func stringer(l level) string {
	var sb strings.Builder // -
	fmt.Fprint(&sb, l)
	return sb.String()
}

func handed(w io.Writer, n int) {
	buf := &bytes.Buffer{} // -
	fmt.Fprint(buf, n)
	io.Copy(w, buf)
}

func returned(n int) *bytes.Buffer {
	buf := &bytes.Buffer{} // -
	fmt.Fprint(buf, n)
	return buf
}

func captured(n int) string {
	var sb strings.Builder // -
	func() { fmt.Fprint(&sb, n) }()
	return sb.String()
}

func bound(n int) string {
	var sb strings.Builder // -
	write := sb.WriteString
	write("x")
	fmt.Fprint(&sb, n)
	return sb.String()
}

func own(n string) string {
	var sb strings.Builder // -
	sb.WriteString(n)
	return sb.String()
}
`

// TestOnlyFormatted holds the variable on a line against the comment on it.
func TestOnlyFormatted(t *testing.T) { holds(t, program, onlyFormatted) }

// holds holds the answers about the expressions of a program's lines against the comments on them; - is for none.
func holds(t *testing.T, program string, ask func(idiom.Place) string) {
	p, file := sourcetest.Load(t, program)
	for i, text := range strings.Split(program, "\n") {
		_, want, found := strings.Cut(text, "// ")
		l := p.At(file, i+1)
		if !found {
			continue
		}
		if l == nil {
			t.Fatalf("%s: not read", text)
		}
		got := "-"
		for _, e := range l.Exprs {
			if answer := ask(place(l, e)); answer != "" {
				got = answer
			}
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func place(l *source.Line, e *source.Expr) idiom.Place {
	n, _ := e.Node().(ast.Expr)
	return idiom.Place{Info: l.Info(), Expr: n, Path: e.Path(), Line: l.LineOf}
}
