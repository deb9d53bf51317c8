package arena

import "unsafe"

// New returns a pointer to a zero T in a.
func New[T any](a *Arena) *T { return newIn[T](a, missed) }

// newIn is inlined into the callers of New. The compiler's budget for that takes the
// call of a parameter for a third of any other, and just suffices; TestFastPathsInline
// holds it. The index of near, written out for that, is nearSlot.
func newIn[T any](a *Arena, missed func(maker) unsafe.Pointer) *T {
	if a != nil {
		if s, ok := a.near[unsafe.Sizeof(*(*T)(nil))/8%nearSlots].(*Slab[T]); ok && s.last < s.limit {
			s.last++
			return &s.cur[s.last]
		}
	}
	return (*T)(missed((*newer[T])(a)))
}

// maker is the part of New that is not inlined.
type maker interface{ make() unsafe.Pointer }

//go:noinline
func missed(m maker) unsafe.Pointer { return m.make() }

type newer[T any] Arena

func (n *newer[T]) make() unsafe.Pointer {
	if n == nil {
		return unsafe.Pointer(new(T))
	}
	if s, ok := n.second[nearSlot[T]()].(*Slab[T]); ok {
		return unsafe.Pointer(s.New())
	}
	return unsafe.Pointer(SlabOf[T]((*Arena)(n)).New())
}

// MakeSlice returns a slice of zero elements in a, as make([]T, n, c) does. It
// panics where make does.
func MakeSlice[T any](a *Arena, n, c int) []T {
	if !checking && a != nil {
		if h := wordOf[T]() * a.mul >> (a.shift & 63); h < uint64(len(a.tab)) {
			if s, ok := a.tab[h].(*Slab[T]); ok && s.fits(n, c) {
				return s.cut(n, c)
			}
		}
	}
	return sliceSlow[T](a, n, c)
}

//go:noinline
func sliceSlow[T any](a *Arena, n, c int) []T {
	if a == nil {
		return make([]T, n, c)
	}
	return SlabOf[T](a).MakeSlice(n, c)
}

// Append returns v with x added, in a when it has to grow. As with the built-in
// append, the result may share the memory of v.
func Append[T any](a *Arena, v []T, x T) []T {
	if !checking && len(v) < cap(v) {
		return append(v, x)
	}
	return appendSlow(a, v, x)
}

//go:noinline
func appendSlow[T any](a *Arena, v []T, x T) []T {
	if a == nil {
		return append(v, x)
	}
	return SlabOf[T](a).appendSlow(v, x)
}

// AppendSlice is Append of all elements of x.
func AppendSlice[T any](a *Arena, v, x []T) []T {
	if a == nil {
		return append(v, x...)
	}
	return SlabOf[T](a).AppendSlice(v, x)
}

// Clone returns a copy of v in a, with no spare capacity; it is nil for nil.
// Clone with a nil arena makes the copy that outlives the arena of v.
func Clone[T any](a *Arena, v []T) []T {
	if a == nil {
		return (&Slab[T]{kind: plainHeap}).Clone(v)
	}
	return SlabOf[T](a).Clone(v)
}

// String returns a copy of b in a. In reuse mode a string that is kept beyond
// the Reset changes, as no other string of the language does.
func String(a *Arena, b []byte) string {
	if !checking && a != nil && len(b) > 0 {
		s := &a.text
		if lo := s.last + 1; len(b) <= len(s.cur)-lo {
			s.last += len(b)
			d := s.cur[lo : lo+len(b)]
			copy(d, b)
			return unsafe.String(unsafe.SliceData(d), len(d))
		}
	}
	return stringSlow(a, b)
}

//go:noinline
func stringSlow(a *Arena, b []byte) string {
	if a == nil || len(b) == 0 {
		return string(b)
	}
	d := SlabOf[byte](a).Clone(b)
	return unsafe.String(unsafe.SliceData(d), len(d))
}

// CloneString is String for a copy of a string.
func CloneString(a *Arena, s string) string {
	return String(a, unsafe.Slice(unsafe.StringData(s), len(s)))
}
