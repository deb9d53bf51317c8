package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestDumbTerminal: a terminal that knows no escape sequences gets none.
func TestDumbTerminal(t *testing.T) {
	f := func(name, noColor string, color, escapes bool) {
		t.Helper()
		t.Setenv("TERM", name)
		t.Setenv("NO_COLOR", noColor)
		term := Terminal{Width: 80, Is: true}
		if term.Color() != color || term.Escapes() != escapes {
			t.Errorf("TERM=%s NO_COLOR=%s: color %v, escapes %v", name, noColor, term.Color(), term.Escapes())
		}
		var out bytes.Buffer
		p := start(&out, term, time.Hour)
		p.Printf("recording")
		p.Close()
		if got := out.Len() > 0; got != escapes {
			t.Errorf("TERM=%s: progress %q", name, out.String())
		}
	}
	f("xterm", "", true, true)
	f("xterm", "1", false, true)
	f("dumb", "", false, false)
}

// TestPipe: where no line can be rewritten, what is to come is said once, and nothing after it.
func TestPipe(t *testing.T) {
	var out bytes.Buffer
	p := start(&out, Terminal{Width: plainWidth}, time.Millisecond)
	p.Announce("recording for\x1b[31m 30s")
	p.Printf("recording 1 of 3")
	p.Close()
	if got, want := out.String(), "heaptrim: recording for\\x1b[31m 30s\n"; got != want {
		t.Errorf("in a pipe: %q, want %q", got, want)
	}
	out.Reset()
	t.Setenv("TERM", "xterm")
	p = start(&out, Terminal{Width: 80, Is: true}, time.Hour)
	p.Announce("recording")
	p.Close()
	if got := out.String(); !strings.Contains(got, "recording") || strings.Contains(got, "\n") {
		t.Errorf("on a terminal: %q", got)
	}
}
