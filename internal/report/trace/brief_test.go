package trace

import (
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/latency"
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

// TestRuntimeRow: what goroutines of the runtime pay has a row of its own, beside the program's, and only if there is any.
func TestRuntimeRow(t *testing.T) {
	group := func(start string, system bool, assists time.Duration) latency.Group {
		g := latency.Group{Start: start, System: system}
		g.Split[latency.AssistCPU] = assists
		return g
	}
	const name = "the runtime and heaptrim's recorder"
	for _, c := range []struct {
		of, runtime time.Duration
		row, none   bool
	}{
		{3 * time.Millisecond, 2 * time.Millisecond, true, false},
		{3 * time.Millisecond, 0, false, false},
		{0, 2 * time.Millisecond, true, true},
	} {
		var b strings.Builder
		briefGroups(&b, []latency.Group{group("m.serve", false, c.of), group("runtime.main", true, c.runtime)})
		if got := strings.Contains(b.String(), "  "+name+": assists 2 ms on CPU"); got != c.row {
			t.Errorf("%v and %v of the runtime: a row of its own is %v, want %v:\n%s", c.of, c.runtime, got, c.row, &b)
		}
		if strings.Contains(b.String(), "others") || strings.Contains(b.String(), "runtime.main") {
			t.Errorf("%v and %v of the runtime: it is among the program's goroutines:\n%s", c.of, c.runtime, &b)
		}
		if got := strings.Contains(b.String(), "delayed no goroutine of the program"); got != c.none {
			t.Errorf("%v and %v of the runtime: no goroutine delayed is %v, want %v:\n%s", c.of, c.runtime, got, c.none, &b)
		}
	}
}

// TestAnotherRate: a trace with other collections than the report says so.
func TestAnotherRate(t *testing.T) {
	for _, c := range []struct {
		cycles    int
		perSecond float64
		want      string
	}{
		{58, 22.7, "The trace has 11.6 cycles/s, the measurements above 22.7"},
		{58, 5, "The trace has 11.6 cycles/s, the measurements above 5"},
		{58, 12.5, ""},
		{0, 12.5, ""}, // the trace may be too short
		{58, 0, ""},
	} {
		if got := anotherRate(c.cycles, 5*time.Second, c.perSecond); (got != "") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%d cycles in 5 s beside %v: %q, want %q", c.cycles, c.perSecond, got, c.want)
		}
	}
}
