package trace

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/report/term"
)

func TestNarrow(t *testing.T) {
	text := "\nDelayed goroutines\n  example.com/m.(*Server).handle: assists 122 ms on CPU, 18.0 ms parked, " +
		"sweeping 2.9 ms\n " +
		"   short\n"
	got := narrow(text, 60)
	for line := range strings.Lines(got) {
		if n := term.Cells(strings.TrimSuffix(line, "\n")); n > 60 {
			t.Errorf("a line of %d cells: %q", n, line)
		}
	}
	if want := strings.Join(strings.Fields(text), " "); strings.Join(strings.Fields(got), " ") != want {
		t.Errorf("got the words %q, want %q", got, want)
	}
	if !strings.Contains(got, "\n    ") || !strings.HasPrefix(got, "\nDelayed goroutines\n  example.com/") ||
		!strings.HasSuffix(got, "\n    short\n") {
		t.Errorf("got %q: lines that go on are not set in, or others changed", got)
	}
	if got := narrow(text, 200); got != text {
		t.Errorf("wide enough: got %q, want it as it was", got)
	}
}
