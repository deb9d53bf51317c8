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

// Reached says to how many elements of a size, in bytes, most slices grew: the tenth and the ninetieth of a hundred; ""
// where that is not known.
func Reached(sizes []finding.SizeCount, elem int64) string {
	final := 0.0
	for i := range sizes {
		final += last(sizes, i)
	}
	if elem <= 0 || final == 0 {
		return ""
	}
	at := func(part float64) int64 {
		sum := 0.0
		for i, s := range sizes {
			if sum += last(sizes, i); sum >= part*final {
				return int64(s.Size) / elem
			}
		}
		return 0
	}
	switch few, many := at(0.1), at(0.9); {
	case few == 0: // the blocks are of something else
		return ""
	case few < many:
		return fmt.Sprintf(" (here %d to %d)", few, many)
	default:
		return fmt.Sprintf(" (here %d)", few)
	}
}

// Last is the size of the arrays that slices grew to, the ninetieth of a hundred; sizes are in order.
func Last(sizes []finding.SizeCount) unit.Bytes {
	final := 0.0
	for i := range sizes {
		final += last(sizes, i)
	}
	sum := 0.0
	for i, s := range sizes {
		if sum += last(sizes, i); sum >= 0.9*final {
			return s.Size
		}
	}
	return 0
}

// last is how many blocks of a size were not outgrown.
func last(sizes []finding.SizeCount, i int) float64 {
	if i+1 < len(sizes) {
		return max(0, sizes[i].Objects-sizes[i+1].Objects)
	}
	return sizes[i].Objects
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
