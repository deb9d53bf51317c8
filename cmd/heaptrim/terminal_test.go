package main

import (
	"bytes"
	"testing"
	"time"
)

// TestDumbTerminal: a terminal that knows no escape sequences gets none.
func TestDumbTerminal(t *testing.T) {
	f := func(name, noColor string, color, escapes bool) {
		t.Helper()
		t.Setenv("TERM", name)
		t.Setenv("NO_COLOR", noColor)
		term := terminal{width: 80, is: true}
		if term.color() != color || term.escapes() != escapes {
			t.Errorf("TERM=%s NO_COLOR=%s: color %v, escapes %v", name, noColor, term.color(), term.escapes())
		}
		var out bytes.Buffer
		p := startProgress(&out, term, time.Hour)
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
