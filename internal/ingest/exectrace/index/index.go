// Package index gives dense numbers to things whose own numbers are mostly consecutive.
package index

// Index has a number for each ID. Add all, then Compact.
type Index struct {
	dense  []uint32
	sparse map[uint64]uint32
}

// New returns an Index with room for n.
func New(n int) Index { return Index{sparse: make(map[uint64]uint32, n)} }

// Add gives id a number, which is not 0 unless id is.
func (x *Index) Add(id uint64, n uint32) { x.sparse[id] = n }

// Find returns the number of id, which is 0 for 0 only.
func (x *Index) Find(id uint64) (uint32, bool) {
	if id < uint64(len(x.dense)) {
		n := x.dense[id]
		return n, n != 0 || id == 0
	}
	n, ok := x.sparse[id]
	return n, ok || id == 0
}

// Compact turns the sparse form into the dense one where that is not larger.
func (x *Index) Compact() {
	largest := uint64(0)
	for id := range x.sparse {
		largest = max(largest, id)
	}
	if largest > 2*uint64(len(x.sparse))+64 {
		return
	}
	x.dense = make([]uint32, largest+1)
	for id, n := range x.sparse {
		x.dense[id] = n
	}
	x.sparse = nil
}
