package rank

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/prescribe/cures"
)

func TestCount(t *testing.T) {
	for v, want := range map[float64]string{1: "1 object", 0.5: "0.500 objects", 2: "2 objects", 1.04: "1 object", 340.4: "340 objects"} {
		if got := count(v); got != want {
			t.Errorf("count(%v) = %q, want %q", v, got, want)
		}
	}
}

// TestTooLittle: a row whose cure is not worth its while has none, and nothing to save.
func TestTooLittle(t *testing.T) {
	r := tooLittle(finding.Row{Remedy: finding.Remedy{Code: "avoid-conversion"}, Cuts: []finding.Cut{{}}})
	if r.Remedy.Code != cures.LeaveIt || len(r.Cuts) > 0 || !strings.Contains(r.Remedy.Text, "avoid-conversion") {
		t.Errorf("%+v", r)
	}
}
