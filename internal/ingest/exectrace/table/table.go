// Package table finds things by their IDs, faster than a map does.
package table

import (
	"iter"
	"math/bits"
)

// Table has one thing for an ID. It is a hash table with linear probing. The zero value is empty.
type Table[T any] struct {
	slots []slot[T] // as many as a power of two, at most half of them full
	shift int
	count int
}

type slot[T any] struct {
	id    int64
	thing *T // nil for none
}

func (t *Table[T]) home(id int64) int { return int(uint64(id) * 0x9e3779b97f4a7c15 >> t.shift) }

// Find returns the thing of an ID, or nil.
func (t *Table[T]) Find(id int64) *T {
	if t.count == 0 {
		return nil
	}
	slots := t.slots
	for i := t.home(id); ; i++ {
		if s := &slots[i&(len(slots)-1)]; s.id == id || s.thing == nil {
			return s.thing
		}
	}
}

// Add adds the thing of an ID that has none.
func (t *Table[T]) Add(id int64, thing *T) {
	if 2*(t.count+1) > len(t.slots) {
		old, n := t.slots, max(64, 2*len(t.slots))
		t.slots, t.shift = make([]slot[T], n), 64-bits.TrailingZeros(uint(n))
		for _, s := range old {
			if s.thing != nil {
				t.place(s)
			}
		}
	}
	t.place(slot[T]{id, thing})
	t.count++
}

func (t *Table[T]) place(s slot[T]) {
	i := t.home(s.id)
	for t.slots[i].thing != nil {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
}

// Drop forgets an ID, which has a thing.
func (t *Table[T]) Drop(id int64) {
	mask := len(t.slots) - 1
	hole := t.home(id)
	for t.slots[hole].id != id || t.slots[hole].thing == nil {
		hole = (hole + 1) & mask
	}
	// Those behind that would not be found across the hole move into it.
	for i := (hole + 1) & mask; t.slots[i].thing != nil; i = (i + 1) & mask {
		if (i-t.home(t.slots[i].id))&mask >= (i-hole)&mask {
			t.slots[hole] = t.slots[i]
			hole = i
		}
	}
	t.slots[hole] = slot[T]{}
	t.count--
}

// All iterates over the things, in no order.
func (t *Table[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, s := range t.slots {
			if s.thing != nil && !yield(s.thing) {
				return
			}
		}
	}
}
