package run

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// TestMemLimit: the limit that a program sets itself shows in its metrics; none is the largest number there is.
func TestMemLimit(t *testing.T) {
	for want, values := range map[string][]float64{"": nil, "off": {math.MaxInt64}, "512MiB": {math.MaxInt64, 512 << 20}} {
		var l CollectorLog
		for _, v := range values {
			l.Metrics = append(l.Metrics, evidence.Metrics{Values: map[string]float64{"/gc/gomemlimit:bytes": v}})
		}
		if got := l.MemLimit(); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
}
