package prescribe

import (
	"fmt"
	"runtime"

	"github.com/heaptrim/heaptrim/internal/finding"
	"github.com/heaptrim/heaptrim/internal/unit"
)

var shrinkLayout = Cure{
	Code:  "shrink-layout",
	Title: "order the fields so that the struct fits a smaller size class",
	Why: "The allocator rounds each object up to a size class, and the compiler pads fields to their alignment. Fields in order of size leave no holes, " +
		"and an object that drops into the next smaller class takes less of the heap.",
	Before:  "type entry struct {\n\tlive bool\n\tkey  string\n\tused bool\n\tnext *entry // 40 B, class 48\n}",
	After:   "type entry struct {\n\tkey  string\n\tnext *entry\n\tlive bool\n\tused bool // 32 B, class 32\n}",
	Safety:  Review,
	Needs:   "the type's layout, from the source",
	WhenNot: "When the order matters to others: cgo, unsafe, atomic 64-bit fields on 32-bit machines, encodings by position.",
	match:   matchShrinkLayout,
}

func matchShrinkLayout(c *candidate, p *allocated) (proposal, bool) {
	e := p.Expr
	if p.Kind != finding.KindNew || p.Via != "" || e == nil || e.Packed == 0 || e.Packed >= e.Size {
		return proposal{}, false
	}
	now, then := sizeClass(unit.Bytes(e.Size)), sizeClass(unit.Bytes(e.Packed))
	if now == 0 || then >= now || c.blockSize() != now {
		return proposal{}, false
	}
	share := 1 - float64(then)/float64(now)
	return proposal{
		Text: fmt.Sprintf("order the fields of %s by size: it needs %s instead of %s", e.Type, then, now),
		Why:  fmt.Sprintf("its fields take %s, padding the rest of %s", unit.Bytes(e.Packed), unit.Bytes(e.Size)),
		Fit:  possible, Bytes: share, Live: share,
	}, true
}

// sizeClass is the size of the block that holds n bytes, by the runtime's own
// table; 0 for sizes beyond it.
func sizeClass(n unit.Bytes) unit.Bytes {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	for _, b := range m.BySize {
		if unit.Bytes(b.Size) >= n {
			return unit.Bytes(b.Size)
		}
	}
	return 0
}
