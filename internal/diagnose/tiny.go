package diagnose

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// The runtime packs objects below 16 bytes that hold no pointers into blocks
// of 16 bytes, and the heap profile sees only those that begin a new block
// (malloc.go: mallocgcTiny returns before profilealloc where the object fits
// into the block at hand). Counts of such objects are therefore counts of
// blocks, which package testing's allocs/op does not have.
const tinyBlock = 16

// boxedPerBlock is how many objects of known size share a block.
var boxedPerBlock = map[string]float64{
	"runtime.convT64": 2,
	"runtime.convT32": 4,
	"runtime.convT16": 8,
}

// tinyCount is blocks of the tiny allocator.
type tinyCount struct {
	unknown float64 // that hold objects of unknown size
	more    float64 // objects of known size beyond one a block
}

// tinyOf counts the blocks of one sample.
func tinyOf(p stack.Path, pointers finding.Tri, objects, bytes float64) tinyCount {
	if objects == 0 || pointers != finding.No || math.Round(bytes/objects) != tinyBlock {
		return tinyCount{}
	}
	for _, f := range p.Above {
		if k, ok := boxedPerBlock[f]; ok {
			return tinyCount{more: objects * (k - 1)}
		}
	}
	return tinyCount{unknown: objects}
}

// mostPerBlock is how many objects a block can hold.
const mostPerBlock = tinyBlock

// countTiny makes counts of objects out of counts of blocks, so that all sites
// together allocate as many as package testing counted. Objects of known size
// come first; what is missing then is spread over the others by their blocks,
// so the sum is right and the single site of unknown size an estimate.
func (d *runData) countTiny() {
	var counted meanOf
	for _, b := range d.results {
		if b.pass == passTiming {
			counted.add(b.allocOp)
		}
	}
	if !d.bench || d.allocOps == 0 || counted.mean() == 0 {
		return
	}
	objects, unknown, more := 0.0, 0.0, 0.0
	for _, t := range d.sites.sites {
		objects += t.objects
		for _, m := range t.mix {
			unknown += m.tiny.unknown
			more += m.tiny.more
		}
	}
	missing := counted.mean()*d.allocOps - objects
	if missing <= 0 || unknown+more == 0 {
		return
	}
	known := 1.0
	if more > missing {
		known = missing / more
	}
	each := 0.0
	if unknown > 0 {
		each = math.Min(math.Max(missing-more, 0)/unknown, mostPerBlock-1)
	}
	for _, t := range d.sites.sites {
		for _, m := range t.mix {
			extra := m.tiny.more*known + m.tiny.unknown*each
			m.objects += extra
			t.objects += extra
		}
	}
}
