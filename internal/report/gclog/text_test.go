package gclog

import (
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/cycles"
)

// TestWithin: the time that is said is the one that rates are of.
func TestWithin(t *testing.T) {
	for _, c := range []struct {
		span, ends time.Duration
		want       string
	}{
		{0, time.Second, "1 s"},
		{7 * time.Second, 7 * time.Second, "7 s"},
		{6990 * time.Millisecond, 7460 * time.Millisecond, "7 s, the last 7.5 s after the start"},
	} {
		if got := within(&cycles.Summary{Span: c.span, Ends: c.ends}); got != c.want {
			t.Errorf("%v of %v: %q, want %q", c.span, c.ends, got, c.want)
		}
	}
}
