package flow_test

import (
	"go/ast"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/heaptrim/heaptrim/internal/prescribe/flow"
	"github.com/heaptrim/heaptrim/internal/prescribe/sourcetest"
)

const asTextProgram = `package m

import (
	"bytes"
	"hash"
	"strconv"
	"unicode/utf8"
)

func head(line []byte) (uint64, int) {
	start := bytes.IndexRune(line, '(')
	if start == -1 || !bytes.HasPrefix(line, []byte("audit")) {
		return 0, 0
	}
	end := bytes.IndexByte(line[start:], ')') + start
	n, err := strconv.ParseUint(string(line[start+1:end]), 10, 64)
	if err != nil {
		return 0, 0
	}
	return n, end + colons(line[end:])
}

func colons(rest []byte) (n int) {
	for len(rest) > 0 {
		if _, size := utf8.DecodeRune(rest); size > 0 && rest[0] == ':' {
			n++
		}
		rest = rest[1:]
	}
	return n
}

func quietHead(text string) (uint64, int) { return head([]byte(text)) }

func quietAppend(to []byte, text string) []byte { return appendTo(to, []byte(text)) }

func appendTo(to, b []byte) []byte { return append(to, b...) }

func upper(b []byte) { b[0] &^= 32 }

func writesTo(text string) { upper([]byte(text)) }

func sum(h hash.Hash, b []byte) { h.Write(b) }

func writesOut(h hash.Hash, text string) { sum(h, []byte(text)) }

func part(b []byte) []byte { return b[1:] }

func returned(text string) []byte { return part([]byte(text)) }

func compared(a, b []byte) bool { return bytes.HasPrefix(a, b) }

func withBytes(text string, b []byte) bool { return compared([]byte(text), b) }

func both(b []byte) int { return bytes.Count(b, nil) }

func first(text string) int { return both([]byte(text)) }

func second(b []byte) int { return both(b) }

func asValue(b []byte) int { return bytes.IndexByte(b, ' ') }

var hook = asValue

func calls(text string) int { return asValue([]byte(text)) }

func Exported(b []byte) int { return bytes.IndexByte(b, ' ') }

func ofExported(text string) int { return Exported([]byte(text)) }

func kept(text string) int {
	b := []byte(text)
	b[0] = 'x'
	return head2(b)
}

func head2(b []byte) int { return bytes.IndexByte(b, ' ') }

func nilElse(b []byte) int {
	if len(b) > 10 {
		b = nil
	}
	return len(b)
}

func asNil(text string) int { return nilElse([]byte(text)) }
`

// TestAsText: functions whose names begin with quiet convert a text for a function that would do with the text.
func TestAsText(t *testing.T) {
	p, _ := sourcetest.Load(t, asTextProgram)
	seen := 0
	for fn := range p.Functions() {
		decl, ok := fn.Syntax().(*ast.FuncDecl)
		if !ok || len(fn.Params) == 0 {
			continue
		}
		converted := false
		for in := range flow.Instructions(fn) {
			c, ok := in.(*ssa.Convert)
			converted = converted || ok && flow.IsBytes(c.Type()) && c.X == fn.Params[len(fn.Params)-1] || ok && c.X == fn.Params[0]
		}
		if !converted {
			continue
		}
		seen++
		if got := flow.AsText(p.Functions(), fn, decl.Body); got != strings.HasPrefix(fn.Name(), "quiet") {
			t.Errorf("%s: %v", fn.Name(), got)
		}
	}
	if seen != 11 {
		t.Errorf("%d functions", seen)
	}
}
