// Package regrowth tells from block sizes how often slices, buffers and tables were outgrown.
package regrowth

import (
	"github.com/heaptrim/heaptrim/internal/finding"
)

// Blocks summarises the block sizes of growing slices, buffers or tables: each began with
// a small block and went through larger ones to its last.
type Blocks struct {
	objects float64 // blocks in all
	bytes   float64
	final   float64 // blocks that were not outgrown: one for each slice
	last    float64 // bytes of these
}

// Of reads the block sizes of a site. As many blocks of one size as
// exceed those of the next larger one were the last of their slices: the others
// were copied into it. That is exact where every slice passes through every
// size on its way, as append's growth does for slices that begin empty; where
// they begin at different sizes it counts too few as outgrown, never too many.
func Of(sizes []finding.SizeCount) Blocks {
	var r Blocks
	for i, s := range sizes {
		r.objects += s.Objects
		r.bytes += s.Objects * float64(s.Size)
		n := last(sizes, i)
		r.final += n
		r.last += n * float64(s.Size)
	}
	return r
}

// Waste is the share of objects and bytes that a right first size would save.
func (r Blocks) Waste() (objects, bytes float64) {
	if r.objects == 0 || r.bytes == 0 {
		return 0, 0
	}
	return max(0, 1-r.final/r.objects), max(0, 1-r.last/r.bytes)
}
