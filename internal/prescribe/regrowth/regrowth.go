// Package regrowth tells from block sizes how often slices, buffers and tables were outgrown.
package regrowth

import (
	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
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

// Grown are the blocks of what grew, by the sizes of all: of a map, of which Go makes a header, too, only its tables.
func Grown(parts []finding.Mix, all []finding.SizeCount) Blocks {
	tables := map[unit.Bytes]float64{}
	for _, m := range parts {
		if m.Kind == finding.KindMapGrowth {
			for _, n := range m.Sizes {
				tables[n.Size] += n.Objects
			}
		}
	}
	if len(tables) > 0 {
		return Of(Sorted(tables))
	}
	return Of(all)
}

// Packed is the size class of a struct with its fields in the best order, if that is smaller than its class now, which its
// blocks must have; 0 if not. packed is 0 where the order is the best.
func Packed(size, packed, block unit.Bytes) unit.Bytes {
	if packed == 0 || packed >= size {
		return 0
	}
	now, then := Class(size), Class(packed)
	if now == 0 || then >= now || block != now {
		return 0
	}
	return then
}
