package bar

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/stats"
)

// TestLengths: the bar is as long as the page, and no boundary is off by
// more than half a cell.
func TestLengths(t *testing.T) {
	var rows []finding.Bucket
	for i, share := range []float64{58.4, 12.9, 2.6, 1.7, 0.02, 3.1, 13.2, 0, 0.9, 1.6, 0.03, 0.8, 1.35, 2.9, 0.2, 0.3} {
		rows = append(rows, finding.Bucket{Share: stats.Interval{Value: share / 100}, Memory: i > 0 && i < 13, Charged: true})
	}
	parts := Segments(rows, false)
	for n := 20; n < 200; n++ {
		total, at, sum := 0.0, 0, 0.0
		for _, s := range parts {
			total += s.Share.Value
		}
		for i, cells := range lengths(parts, n) {
			at += cells
			sum += parts[i].Share.Value
			if off := math.Abs(float64(at) - sum/total*float64(n)); off > 0.5+1e-9 {
				t.Errorf("bar of %d cells: boundary %d is off by %v", n, i, off)
			}
		}
		if at != n {
			t.Errorf("bar of %d cells has %d", n, at)
		}
	}
}
