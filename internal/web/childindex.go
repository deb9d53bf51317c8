package web

import (
	"math/bits"
	"math/rand/v2"
)

// childIndex finds the child of a node that a step leads to. A look-up waits for memory, and
// little else takes time. Here it waits once for a call that is not there; in a Go map it waits
// two or three times.
type childIndex struct {
	slots []childSlot // a power of two of them, at least half of them free
	seed  uint64      // no file can be made whose calls collide
}

type childSlot struct {
	tag  uint32 // of the hash
	node int32  // 0: free, as the root is no child
}

func newChildIndex() childIndex {
	return childIndex{make([]childSlot, 1<<10), rand.Uint64()}
}

// child returns the slot of the child of a node that a step leads to. It is free if there is
// none yet; then it has the tag.
func (t *callTree) child(node, next int32) *childSlot {
	x := &t.children
	hi, lo := bits.Mul64((uint64(uint32(node))<<32|uint64(uint32(next)))^x.seed, 0x9e3779b97f4a7c15)
	h, mask := hi^lo, uint64(len(x.slots)-1)
	tag := uint32(h >> 32)
	for i := h; ; i++ {
		s := &x.slots[i&mask]
		if s.node == 0 {
			s.tag = tag
			return s
		}
		if s.tag == tag && t.parent[s.node] == node && t.step[s.node] == next {
			return s
		}
	}
}

// index enters all nodes anew, into so many slots.
func (t *callTree) index(slots int) {
	if slots == len(t.children.slots) {
		clear(t.children.slots)
	} else {
		t.children.slots = make([]childSlot, slots)
	}
	for i := 1; i < len(t.parent); i++ {
		t.child(t.parent[i], t.step[i]).node = int32(i)
	}
}
