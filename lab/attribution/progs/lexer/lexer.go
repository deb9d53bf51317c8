// Package lexer cuts lines of a query language into tokens and counts them by
// kind. Nothing stays alive; the marked site makes the list of a line's tokens,
// dead when the line has been counted.
package lexer

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/heaptrim/heaptrim/lab/attribution/drive"
	"github.com/heaptrim/heaptrim/lab/attribution/variant"
)

// perLine is more than the longest line has.
const perLine = 128

type token struct {
	kind byte
	text string
	pos  int
}

// World holds the lines.
type World struct{ lines []string }

// New makes the lines; they are the same on every call.
func New() *World {
	r := rand.New(rand.NewPCG(51, 52))
	w := &World{}
	for range 2000 {
		var b strings.Builder
		for range 12 + r.IntN(12) {
			fmt.Fprintf(&b, "f%d >= %d and ", r.IntN(90), r.IntN(10_000))
		}
		w.lines = append(w.lines, b.String())
	}
	return w
}

// Worker returns the operation: cut one line.
func (w *World) Worker(int) drive.Op {
	l := &lexer{}
	return func(i int) uint64 {
		var h uint64
		for _, t := range l.cut(w.lines[i%len(w.lines)]) {
			h = drive.Mix(h, uint64(t.kind)<<32|uint64(t.pos)<<8|uint64(len(t.text)))
		}
		return h
	}
}

type lexer struct{ scratch []token }

// cut returns the tokens of a line. In the version without the site they are
// valid until the next call.
func (l *lexer) cut(line string) []token {
	out := l.list()
	for at := 0; at < len(line); {
		end := at + 1
		kind := kindOf(line[at])
		for end < len(line) && kindOf(line[end]) == kind {
			end++
		}
		if kind != ' ' {
			out = append(out, token{kind, line[at:end], at})
		}
		at = end
	}
	if variant.Without {
		l.scratch = out
	}
	return out
}

func (l *lexer) list() []token {
	if variant.Without {
		if l.scratch == nil {
			l.scratch = make([]token, 0, perLine)
		}
		return l.scratch[:0]
	}
	return make([]token, 0, perLine) // site
}

func kindOf(c byte) byte {
	switch {
	case c == ' ':
		return ' '
	case c >= '0' && c <= '9':
		return '0'
	case c >= 'a' && c <= 'z':
		return 'a'
	}
	return '='
}
