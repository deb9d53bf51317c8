package regrowth

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// Spread says in words how block sizes spread; "" for one size.
func Spread(sizes []finding.SizeCount) string {
	if len(sizes) < 2 {
		return ""
	}
	return fmt.Sprintf(" (blocks from %s to %s)", sizes[0].Size, sizes[len(sizes)-1].Size)
}

// Class is the size of the block that holds n bytes, by the runtime's own
// table; 0 for sizes beyond it.
func Class(n unit.Bytes) unit.Bytes {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, b := range m.BySize {
		if unit.Bytes(b.Size) >= n {
			return unit.Bytes(b.Size)
		}
	}
	return 0
}

// Sorted are counts by size as a list, smallest first.
func Sorted(sizes map[unit.Bytes]float64) []finding.SizeCount {
	var out []finding.SizeCount
	for size, n := range sizes {
		out = append(out, finding.SizeCount{Size: size, Objects: n})
	}
	slices.SortFunc(out, func(a, b finding.SizeCount) int { return cmp.Compare(a.Size, b.Size) })
	return out
}

// Common are the sizes of a tenth of the blocks or more.
func Common(sizes []finding.SizeCount) []int64 {
	all := 0.0
	for _, s := range sizes {
		all += s.Objects
	}
	var out []int64
	for _, s := range sizes {
		if s.Objects >= all/10 {
			out = append(out, int64(s.Size))
		}
	}
	return out
}
