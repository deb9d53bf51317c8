package run

import (
	"math"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// The runtime packs objects below 16 bytes that hold no pointers into blocks of 16 bytes,
// and the heap profile sees only those that begin a new block (malloc.go: mallocgcTiny
// returns before profilealloc where the object fits into the block at hand). Counts of such
// objects are therefore counts of blocks, while package testing's allocs/op counts objects.
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

// TinyScale says how many objects the blocks of the tiny allocator hold beyond
// one each. The zero value says none.
type TinyScale struct {
	Known float64 // share of the objects of known size that count
	Each  float64 // objects more in each block of unknown ones
}

// Objects is the number of objects that a part of a site allocated.
func (s TinyScale) Objects(m *MixTally) float64 {
	return m.Objects + m.tiny.more*s.Known + m.tiny.unknown*s.Each
}

// SiteObjects is the number of objects that a site allocated.
func (s TinyScale) SiteObjects(t *Site) float64 {
	extra := 0.0
	for _, m := range t.inOrder {
		extra += m.tiny.more*s.Known + m.tiny.unknown*s.Each
	}
	return t.Objects + extra
}

// TinyScale makes counts of objects out of counts of blocks, so that all sites together
// allocate as many as package testing counted. Objects of known size come first. The missing
// rest is spread over the others by their blocks, so the sum is right, and a single site of
// unknown size is an estimate.
func (d *Data) TinyScale() TinyScale {
	var counted MeanOf
	for _, b := range d.Results {
		if b.Pass == evidence.PassTiming {
			counted.Add(b.AllocOp)
		}
	}
	if !d.Bench || d.Heap.Ops == 0 || counted.Mean() == 0 {
		return TinyScale{}
	}
	objects, unknown, more := 0.0, 0.0, 0.0
	for _, t := range d.Sites.Sorted() {
		objects += t.Objects
		for _, m := range t.inOrder {
			unknown += m.tiny.unknown
			more += m.tiny.more
		}
	}
	missing := counted.Mean()*d.Heap.Ops - objects
	if missing <= 0 || unknown+more == 0 {
		return TinyScale{}
	}
	known := 1.0
	if more > missing {
		known = missing / more
	}
	each := 0.0
	if unknown > 0 {
		each = math.Min(math.Max(missing-more, 0)/unknown, mostPerBlock-1)
	}
	return TinyScale{known, each}
}
