package life

import (
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

const constantsProgram = `package p

import "strconv"

type table struct {
	names map[byte]string
	all   []string
}

var limit = 10

var count int

func newTable(chars string) *table {
	t := &table{names: map[byte]string{}} // made
	for i := range len(chars) {
		t.names[chars[i]] = strconv.QuoteRune(rune(chars[i]))
	}
	return t
}

func (t *table) name(c byte) string { return t.names[c] }

func (t *table) set(c byte) { t.names[c] = "" }

func counted(chars string) *table {
	count++
	return newTable(chars)
}

func limited(chars string) *table {
	if len(chars) > count {
		return nil
	}
	return newTable(chars)
}

func sized() *table { return newTable("abc"[:limit%3]) }

func asks(c byte) string { return newTable("abc").name(c) }   // newTable

func given(s string, c byte) string { return newTable(s).name(c) } // -

func sets(c byte) { newTable("abc").set(c) } // -

func returns() *table { return newTable("abc") } // -

func counts(c byte) string { return counted("abc").name(c) } // -

func limits(c byte) string { return limited("abc").name(c) } // -

func sizes(c byte) string { return sized().name(c) } // sized

var seen = map[byte]bool{}

func remember(c byte) { seen[c] = true }

func remembered(chars string) *table {
	if seen[chars[0]] {
		return nil
	}
	return newTable(chars)
}

func remembers(c byte) string { return remembered("abc").name(c) } // -

func scale(factor int) func(int) int {
	return func(n int) int { return n * factor } // literal
}

func counter(from int) func(int) int {
	return func(n int) int { from += n; return from }
}

type scales struct{ small, large func(int) int }

func newScales() *scales {
	return &scales{small: scale(2)}
}

func newScaled(by int) *scales {
	return &scales{small: scale(by)}
}

func newCounters() *scales {
	return &scales{small: counter(2)}
}

func (t *table) method() *table { return newTable("abc") }
`

// TestConstantClosures: a function that keeps nothing of its calls is as good as the next one that is made of the same
// constants, whoever has it.
func TestConstantClosures(t *testing.T) {
	tracer, file := tracerOf(t, constantsProgram)
	lines := strings.Split(constantsProgram, "\n")
	line := func(text string) int {
		return slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, text) }) + 1
	}
	for _, c := range []struct{ maker, text, caller, call, want string }{
		{"scale", "return n * factor", "newScales", "small: scale(2)", "scale"},
		{"scale", "return n * factor", "newScaled", "small: scale(by)", ""},
		{"counter", "from += n", "newCounters", "small: counter(2)", ""},
	} {
		got, _ := tracer.OfConstants([]evidence.Frame{{File: file, Line: line(c.text), Function: c.maker}, {File: file, Line: line(c.call), Function: c.caller}})
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.caller, got, c.want)
		}
	}
}

// TestOfConstants: functions that make the same each time, for a caller that only reads it.
func TestOfConstants(t *testing.T) {
	tracer, file := tracerOf(t, constantsProgram)
	lines := strings.Split(constantsProgram, "\n")
	at := func(mark, within string) int {
		for i, l := range lines {
			if strings.Contains(l, mark) && strings.Contains(l, within) {
				return i + 1
			}
		}
		t.Fatalf("no line with %s", mark)
		return 0
	}
	calls := func(function string) int { // its line that calls newTable
		line := at("func "+function+"(", "")
		for !strings.Contains(lines[line-1], "return newTable(") {
			line++
		}
		return line
	}
	for i, l := range lines {
		head, want, ok := strings.Cut(l, "// ")
		if !ok || want == "made" || want == "literal" {
			continue
		}
		caller, _, _ := strings.Cut(strings.TrimPrefix(head, "func "), "(")
		way := []evidence.Frame{{File: file, Line: at("// made", ""), Function: "newTable"}}
		for _, between := range []string{"counted", "limited", "sized", "remembered"} {
			if strings.Contains(head, between+"(") {
				way = append(way, evidence.Frame{File: file, Line: calls(between), Function: between})
			}
		}
		way = append(way, evidence.Frame{File: file, Line: i + 1, Function: caller})
		got, frame := tracer.OfConstants(way)
		if want == "-" {
			want = ""
		}
		if got != want || got != "" && frame.Function != caller {
			t.Errorf("%s: %q, called by %s", caller, got, frame.Function)
		}
	}
}
