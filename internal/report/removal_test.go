package report

import (
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestWhyRemoval: one reason for a row, and none where there is nothing to explain.
func TestWhyRemoval(t *testing.T) {
	for _, c := range []struct {
		cost, removal, cycles float64
		want                  string
	}{
		{0.1, 0.1, 0.2, ""},
		{0.1, 0.2, 0.2, "fewer cycles"},
		{0.1, 0.2, -0.2, "marks less"},
		{0.1, -0.1, -0.2, "Negative"},
		{-0.1, -0.05, 0, "Negative"},
	} {
		got := whyRemoval(finding.Prediction{CPU: stats.Exact(c.removal), Cycles: stats.Exact(c.cycles)}, finding.Cost{CPU: stats.Exact(c.cost)})
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("costs %v, saved without it %v: %q, want %q", c.cost, c.removal, got, c.want)
		}
	}
}
