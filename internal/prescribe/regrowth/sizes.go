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
	if elem <= 0 {
		return ""
	}
	switch few, many := int64(reached(sizes, 0.1))/elem, int64(reached(sizes, 0.9))/elem; {
	case few == 0: // the blocks are of something else
		return ""
	case few < many:
		return fmt.Sprintf(" (here %d to %d)", few, many)
	default:
		return fmt.Sprintf(" (here %d)", few)
	}
}

// Last is the size of the arrays that slices grew to, the ninetieth of a hundred; sizes are in order.
func Last(sizes []finding.SizeCount) unit.Bytes { return reached(sizes, 0.9) }

// Alike reports whether one size would serve most slices: the ninetieth of a hundred grew to no more than four times the
// array of the tenth.
func Alike(sizes []finding.SizeCount) bool { return reached(sizes, 0.9) <= 4*reached(sizes, 0.1) }

// reached is the size of the arrays that a part of the slices grew to at most; sizes are in order.
func reached(sizes []finding.SizeCount, part float64) unit.Bytes {
	final, sum := 0.0, 0.0
	for i := range sizes {
		final += last(sizes, i)
	}
	for i, s := range sizes {
		if sum += last(sizes, i); final > 0 && sum >= part*final {
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
