package run

import (
	"math"
	"testing"

	"github.com/heaptrim/heaptrim/internal/unit"
)

func TestLargeShare(t *testing.T) {
	f := func(sizes map[unit.Bytes]float64, want float64) {
		t.Helper()
		if got := (&Site{Sizes: sizes}).LargeShare(); math.Abs(got-want) > 1e-12 {
			t.Errorf("of %v large are %v, want %v", sizes, got, want)
		}
	}
	f(nil, 0)
	f(map[unit.Bytes]float64{32 << 10: 5, 16: 1000}, 0)
	f(map[unit.Bytes]float64{40 << 10: 3}, 1)
	f(map[unit.Bytes]float64{1 << 20: 1, 1 << 10: 3 << 10}, 0.25)
	many := map[unit.Bytes]float64{}
	for i := range maxSizes {
		many[unit.Bytes(1<<20+i)] = 1
	}
	f(many, 0) // perhaps not all of them
}
