package arena

import "unsafe"

const (
	firstTableBits = 3
	// A table of 4096 entries is perfect for some 150 types. What does not fit
	// is found by a search of all slabs.
	maxTableBits = 12
	// So many multipliers are tried before the table doubles.
	tableTries = 32
)

// nearSlots is how many sizes of types New tells apart to find a slab, by what the
// compiler knows: to 128 bytes, every size has a place of its own. Of several types
// of one size, the first is near, for the part of New that is inlined; the second is
// where the rest of New looks next, and others are found through the table.
const nearSlots = 16

func nearSlot[T any]() uintptr { return unsafe.Sizeof(*(*T)(nil)) / 8 % nearSlots }

// SlabOf returns the slab that a takes its values of type T from, for the
// fastest path: it saves the look-up of the type. Allocations through both are
// alike and end together. For a nil arena the slab allocates on the heap.
func SlabOf[T any](a *Arena) *Slab[T] {
	if a == nil {
		return &Slab[T]{kind: plainHeap}
	}
	if h := wordOf[T]() * a.mul >> (a.shift & 63); h < uint64(len(a.tab)) {
		if s, ok := a.tab[h].(*Slab[T]); ok {
			return s
		}
	}
	return addSlab[T](a)
}

// wordOf returns the address of a type descriptor: the same for the same T, and
// good for nothing but a hash.
func wordOf[T any]() uint64 {
	var t any = (*Slab[T])(nil)
	// Read as a *byte, which is what the compiler takes it for, the word does not
	// go through memory.
	return uint64(uintptr(unsafe.Pointer(*(**byte)(unsafe.Pointer(&t)))))
}

func (s *Slab[T]) typeWord() uint64 { return wordOf[T]() }

// addSlab returns the slab of a type that the table does not have.
//
//go:noinline
func addSlab[T any](a *Arena) *Slab[T] {
	for _, s := range a.slabs {
		if s, ok := s.(*Slab[T]); ok {
			return s
		}
	}
	s, ok := any(&a.text).(*Slab[T])
	if !ok {
		s = new(Slab[T])
	}
	s.kind = a.kind
	if checking {
		s.watch = a.watched()
	}
	a.slabs = append(a.slabs, s)
	if k := nearSlot[T](); a.near[k] == nil {
		a.near[k] = s
	} else if a.second[k] == nil {
		a.second[k] = s
	}
	a.index()
	return s
}

// index makes the table anew. The addresses of type descriptors are known no
// earlier than at run time, so a multiplier that parts them is searched for.
func (a *Arena) index() {
	bits := firstTableBits
	for 1<<bits < len(a.slabs) {
		bits++
	}
	if len(a.tab) > 1<<bits {
		bits = int(64 - a.shift)
	}
	for ; ; bits++ {
		if len(a.tab) != 1<<bits {
			a.tab = make([]any, 1<<bits)
		}
		a.shift = uint8(64 - bits)
		for range tableTries {
			if a.fill() == len(a.slabs) || bits == maxTableBits {
				return
			}
			// Knuth's linear congruential generator for 64 bits.
			a.mul = a.mul*6364136223846793005 + 1442695040888963407
		}
	}
}

// fill puts the slabs into the table and returns how many found a free place
// before the first that did not.
func (a *Arena) fill() int {
	clear(a.tab)
	a.mul |= 1
	for i, s := range a.slabs {
		e := &a.tab[s.typeWord()*a.mul>>(a.shift&63)]
		if *e != nil {
			return i
		}
		*e = s
	}
	return len(a.slabs)
}
