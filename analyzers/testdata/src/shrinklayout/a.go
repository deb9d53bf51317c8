package shrinklayout

type span struct { // want `span has gaps: its fields in order of size take 24 bytes instead of 40 bytes, and each value 24 bytes of heap instead of 48 bytes`
	open  bool
	start int64
	done  bool
	end   int64
	kind  bool
}

func newSpan() *span { return &span{start: 1} }

// Silent from here on.

type tight struct {
	start, end int64
	open, done bool
}

func newTight() *tight { return new(tight) }

type spanOptions struct {
	a bool
	b int64
	c bool
	d int64
	e bool
}

func newSpanOptions() *spanOptions { return &spanOptions{} }

type neverAllocated struct {
	a bool
	b int64
	c bool
	d int64
	e bool
}

type padded struct {
	a bool
	_ [7]byte
	b int64
	c bool
	d int64
	e bool
}

func newPadded() *padded { return &padded{} }

type positional struct {
	a bool
	b int64
	c bool
	d int64
	e bool
}

func newPositional() *positional { return &positional{true, 1, true, 2, true} }

type sameClass struct { // 136 bytes instead of 144, which both take 144
	a bool
	b int64
	c bool
	d [15]int64
}

func newSameClass() *sameClass { return &sameClass{} }

type generic[T any] struct {
	a bool
	b T
	c bool
	d int64
	e bool
}

func newGeneric() *generic[int64] { return &generic[int64]{} }
