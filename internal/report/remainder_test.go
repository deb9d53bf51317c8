package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestOvercharged: sites that bear more than there was are said to, in either
// text, where that is beyond its error.
func TestOvercharged(t *testing.T) {
	f := func(remainder stats.Interval, want string) {
		t.Helper()
		rep := fixture()
		rep.Diagnosis.Totals.Remainder = remainder
		for name, write := range map[string]writer{"text": textAt(180), "markdown": Markdown} {
			var b bytes.Buffer
			if err := write(&b, rep); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); strings.Contains(got, "All sites together bear") != (want != "") ||
				!strings.Contains(got, want) {
				t.Errorf("%s, remainder %v: want %q in\n%s", name, remainder, want, got)
			}
		}
	}
	f(span95(-8, 1.2), "All sites together bear 8.0 % ±1.2 of CPU more for the collector than")
	f(span95(-8, 9), "")
	f(span95(-0.01, 0.002), "")
	f(span95(8, 1.2), "")
	f(stats.Interval{}, "")
}
