package gctrace

import (
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/unit"
)

// minimumHeap is the runtime's smallest heap goal with GOGC=100.
const minimumHeap = 4 * unit.MiB

// Without subtracts live bytes that are not the program's from a cycle. A live byte makes
// the heap goal larger by itself and by what GOGC adds, unless the goal is the runtime's
// minimum.
func Without(c *evidence.Cycle, own unit.Bytes) {
	grown := unit.Bytes(0)
	if c.Goal > minimumHeap {
		grown = own
		if c.HeapLive > own {
			grown = unit.Bytes(float64(own) * float64(c.Goal) / float64(c.HeapLive))
		}
		c.Goal = max(minimumHeap, c.Goal-grown)
	}
	c.HeapLive = max(0, c.HeapLive-own)
	c.HeapStart, c.HeapEnd = max(c.HeapLive, c.HeapStart-grown), max(c.HeapLive, c.HeapEnd-grown)
}
