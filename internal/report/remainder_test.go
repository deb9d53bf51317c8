package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestOvercharged: both texts say so if the sites are charged more than the
// collector's cost, and the excess is beyond its error.
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
			if got := b.String(); strings.Contains(got, "The sites' shares of the collector add up") != (want != "") ||
				!strings.Contains(got, want) {
				t.Errorf("%s, remainder %v: want %q in\n%s", name, remainder, want, got)
			}
		}
	}
	f(span95(-8, 1.2), "The sites' shares of the collector add up to 8.0 % ±1.2 of CPU more than it took")
	f(span95(-8, 9), "")
	f(span95(-0.01, 0.002), "")
	f(span95(8, 1.2), "")
	f(stats.Interval{}, "")
}
