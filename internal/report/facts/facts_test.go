package facts

import (
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/finding"
)

// TestPausesWhole: a sum is of all pauses, or it is not said.
func TestPausesWhole(t *testing.T) {
	var all finding.Totals
	all.Cycles.Automatic, all.Cycles.Forced, all.Pauses.Total = 590, 6, 117*time.Millisecond
	if got := pausesWhole(all); got != "117 ms in all" {
		t.Error(got)
	}
	all.Pauses.Unseen = 340
	if got := pausesWhole(all); got != "in the last 256 of 596 cycles" {
		t.Error(got)
	}
}
