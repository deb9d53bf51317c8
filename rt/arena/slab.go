package arena

import (
	"math"
	"slices"
	"unsafe"
)

const (
	firstChunkBytes = 512
	// Measured in drop mode: 64 KiB take a tenth less CPU than 32, 128 hardly
	// less, and a pointer that is kept keeps a whole chunk.
	maxChunkBytes = 64 << 10
	mallocHeader  = 8 // what the runtime puts before objects with pointers

	// A slice above maxChunkBytes/bigFraction gets memory of its own, so that at
	// most that share of a chunk is left empty at its end.
	bigFraction = 4

	// A slab that used less than half of what it holds in so many rounds gives
	// half of it back.
	idleRounds = 16
)

// Slab hands out values of one type from chunks that are ordinary slices of
// that type. It is the fastest form of an [Arena], for one type; SlabOf gives
// the slab within an arena.
//
// The zero value is ready and in drop mode; MakeSlab gives one in reuse mode.
// The package comment says what the modes guarantee. A Slab must not be copied
// after first use, and has one owner at a time, as an Arena has.
type Slab[T any] struct {
	cur   []T // the chunk being handed out; what is above last is zero
	last  int // index of the last element handed out; New counts it up blindly
	limit int // last may reach this before New has to ask for more

	kind  slabKind
	idle  uint8 // rounds in a row that used less than half
	size  int   // elements of the next fresh chunk; 0 means not known yet
	taken int   // elements of this round's chunks before cur

	chunks [][]T // reuse: chunks[:at] are of this round, chunks[at:] are zero
	at     int
	bigs   [][]T // reuse: bigs[:bigAt] are of this round; len is what is handed out
	bigAt  int

	watch *watch // checking mode: nil until first use
	_     noCopy
}

type slabKind uint8

const (
	dropping slabKind = iota
	reusing
	plainHeap // stands for no arena: every value is an allocation of its own
)

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// MakeSlab returns a slab that belongs to no arena.
func MakeSlab[T any](o Options) *Slab[T] {
	s := &Slab[T]{kind: o.kind()}
	if checking {
		s.watch = newWatch(o.OnMisuse)
	}
	return s
}

// New returns a pointer to a zero T.
func (s *Slab[T]) New() *T {
	// Written for the compiler's budget for inlining, which it just meets.
	if s.last++; s.last > s.limit {
		s.fill()
	}
	return &s.cur[s.last]
}

// fill makes cur[last] an element to hand out, where last is too far.
//
//go:noinline
func (s *Slab[T]) fill() {
	s.last--
	if s.kind == plainHeap {
		s.cur, s.last = make([]T, 1), 0
		return
	}
	if checking {
		s.enter(nil)
		defer s.watch.exit()
	}
	s.take(1, 1)
}

// MakeSlice returns a slice of zero elements, as make([]T, n, c) does. It
// panics where make does.
func (s *Slab[T]) MakeSlice(n, c int) []T {
	if !checking && s.fits(n, c) {
		return s.cut(n, c)
	}
	return s.sliceSlow(n, c)
}

// fits reports whether cur has room for a slice of n elements and capacity c.
func (s *Slab[T]) fits(n, c int) bool { return n >= 0 && n <= c && c < len(s.cur)-s.last }

// cut hands out a slice that fits.
func (s *Slab[T]) cut(n, c int) []T {
	lo := s.last + 1
	s.last += c
	return s.cur[lo : lo+n : lo+c]
}

//go:noinline
func (s *Slab[T]) sliceSlow(n, c int) []T {
	if s.kind == plainHeap || c <= 0 || n < 0 || n > c {
		return make([]T, n, c)
	}
	if checking {
		s.enter(nil)
		defer s.watch.exit()
	}
	return s.take(n, c)
}

// take hands out c > 0 elements, of which n <= c are in the result.
func (s *Slab[T]) take(n, c int) []T {
	if c > s.rest() {
		if c > s.maxLen()/bigFraction && c > 1 {
			return s.big(c)[:n]
		}
		s.grow(c)
	}
	lo := s.last + 1
	s.advance(c)
	return s.cur[lo : lo+n : lo+c]
}

// rest is how many elements of cur are free; negative if there is no chunk.
func (s *Slab[T]) rest() int { return len(s.cur) - 1 - s.last }

// advance hands out the next c elements of cur.
func (s *Slab[T]) advance(c int) {
	s.last += c
	if checking {
		s.limit = s.last // every New has to ask
	}
}

// Append returns v with x added. As with the built-in append, the result may
// share the memory of v; where v is the slab's last allocation, it grows in
// place. A v from elsewhere is copied into the slab when it has to grow.
func (s *Slab[T]) Append(v []T, x T) []T {
	if !checking && len(v) < cap(v) {
		return append(v, x)
	}
	return s.appendSlow(v, x)
}

// appendSlow is Append to a v without spare capacity. What the current chunk has room
// for is as Grow does it, in one function.
//
//go:noinline
func (s *Slab[T]) appendSlow(v []T, x T) []T {
	n, next := len(v), s.last+1
	if free := len(s.cur) - next; !checking && n == cap(v) && free > 0 {
		if lo := next - n; n > 0 && lo >= 0 && unsafe.SliceData(v) == &s.cur[lo] {
			more := min(n, free)
			s.last += more
			w := s.cur[lo : next+1 : next+more]
			w[n] = x
			return w
		}
		if c := max(minCap[T](), 2*n); n <= free/2 && c <= free {
			s.last += c
			w := s.cur[next : next+n+1 : next+c]
			copy(w, v)
			w[n] = x
			return w
		}
	}
	return append(s.Grow(v, 1), x)
}

// AppendSlice is Append of all elements of x.
func (s *Slab[T]) AppendSlice(v, x []T) []T {
	if checking {
		s.enter(x)
		s.watch.exit()
	}
	return append(s.Grow(v, len(x)), x...)
}

// Grow returns v with room for at least n more elements; it panics when n is
// negative, and when so many elements are more than an int can count or memory
// can hold. The capacity at least doubles when it does not suffice.
func (s *Slab[T]) Grow(v []T, n int) []T {
	if n < 0 {
		panic("arena: Grow by a negative number of elements")
	}
	if len(v) > math.MaxInt-n {
		panic("arena: Grow: length out of range")
	}
	if s.kind == plainHeap {
		return slices.Grow(v, n)
	}
	if checking {
		s.enter(v)
		defer s.watch.exit()
	}
	c := cap(v)
	spare := c - len(v)
	if n <= spare {
		return v
	}
	if s.atTip(v) {
		// Room up to the end of the chunk is taken no further than doubling,
		// for the slices that grow beside this one.
		if more := min(max(c, n), s.rest()); more >= n-spare {
			lo := s.last + 1 - c
			s.advance(more)
			return s.cur[lo : lo+len(v) : lo+c+more]
		}
	}
	w := s.take(len(v), max(minCap[T](), 2*c, len(v)+n))
	copy(w, v)
	return w
}

// atTip reports whether v ends where the free part of the chunk begins.
func (s *Slab[T]) atTip(v []T) bool {
	lo := s.last + 1 - cap(v)
	return cap(v) > 0 && lo >= 0 && s.rest() > 0 && unsafe.SliceData(v) == &s.cur[lo]
}

// minCap is the capacity that a slice starts to grow with: small for large
// elements, of which there may never be a second.
func minCap[T any]() int {
	return max(1, min(4, 256/max(1, sizeOf[T]())))
}

// Clone returns a copy of v with no spare capacity. It is nil for nil.
func (s *Slab[T]) Clone(v []T) []T {
	if v == nil {
		return nil
	}
	if s.kind == plainHeap || len(v) == 0 {
		return append([]T{}, v...)
	}
	if checking {
		s.enter(v)
		defer s.watch.exit()
	}
	w := s.take(len(v), len(v))
	copy(w, v)
	return w
}

// Reset takes back all that was handed out. Nothing from before may be used
// any more; the package comment says what happens if it is.
func (s *Slab[T]) Reset() {
	if checking {
		s.enter(nil)
		defer s.watch.exit()
		s.watch.retire(UseAfterReset, s.regions())
	}
	s.reset()
}

// Free ends the use of the slab and gives its memory to the collector. A second
// Free does nothing.
func (s *Slab[T]) Free() {
	if checking && s.kind != plainHeap {
		s.watched().free(s.regions())
	}
	s.free()
}

func (s *Slab[T]) reset() {
	taken := s.taken + s.out()
	s.taken = 0
	if checking {
		s.free() // nothing is handed out twice, so that what is kept is found out
		return
	}
	if s.kind != reusing {
		// The first chunk of the next round holds what this one took.
		if taken > 0 {
			s.size = min(max(taken, 1), s.maxLen())
		}
		s.cur, s.last, s.limit = nil, 0, 0
		return
	}
	s.clear()
	s.consolidate(taken)
	s.cur, s.last, s.limit, s.at, s.bigAt = nil, 0, 0, 0, 0
}

// out is how many elements of cur are handed out.
func (s *Slab[T]) out() int { return min(s.last+1, len(s.cur)) }

// clear zeroes what this round handed out, the last first: that is still in
// the cache, and when it is done the chunks that the next round begins with are.
func (s *Slab[T]) clear() {
	for k := s.bigAt - 1; k >= 0; k-- {
		clear(s.bigs[k])
	}
	for k := s.at - 1; k >= 0; k-- {
		c := s.chunks[k]
		if k == s.at-1 {
			c = c[:s.out()]
		}
		clear(c)
	}
}

// consolidate replaces the small chunks that the slab grew through by one that
// holds as much, and gives back what has not been used for long.
func (s *Slab[T]) consolidate(taken int) {
	if s.at > 1 && len(s.chunks[0]) < s.maxLen() {
		s.size = min(taken, s.maxLen())
		keep := s.chunks[:0]
		for _, c := range s.chunks {
			if len(c) >= s.maxLen() {
				keep = append(keep, c)
			}
		}
		clear(s.chunks[len(keep):])
		s.chunks = keep
	}
	if 2*s.at >= len(s.chunks) && 2*s.bigAt >= len(s.bigs) {
		s.idle = 0
		return
	}
	if s.idle++; s.idle < idleRounds {
		return
	}
	s.idle = 0
	s.chunks = cut(s.chunks, s.at)
	s.bigs = cut(s.bigs, s.bigAt)
}

// cut halves v, but leaves at least n elements, and lets go of the others.
func cut[E any](v []E, n int) []E {
	n = max(n, len(v)/2)
	if n >= len(v) {
		return v
	}
	clear(v[n:])
	return v[:n]
}

func (s *Slab[T]) free() {
	if s.kind == plainHeap {
		return
	}
	*s = Slab[T]{kind: s.kind, watch: s.watch}
}

// grow makes cur a zero chunk of at least n elements.
func (s *Slab[T]) grow(n int) {
	s.taken += s.out()
	for s.at < len(s.chunks) {
		c := s.chunks[s.at]
		s.at++
		if len(c) >= n {
			s.start(c)
			return
		}
	}
	if s.size == 0 {
		s.size = elements[T](firstChunkBytes)
	}
	s.start(make([]T, max(n, s.size)))
	s.size = min(2*s.size, s.maxLen())
	if s.keeps() {
		s.chunks = append(s.chunks, s.cur)
		s.at = len(s.chunks)
	}
}

// start makes c the chunk to hand out from.
func (s *Slab[T]) start(c []T) {
	s.cur, s.last, s.limit = c, -1, len(c)-1
	if checking {
		s.limit = -1
	}
}

// keeps reports whether the slab lists its chunks: for reuse or for checks.
func (s *Slab[T]) keeps() bool { return checking || s.kind == reusing }

// big returns c elements with memory of their own. In reuse mode the k-th of a
// round gets the k-th of the last, if that is long enough.
func (s *Slab[T]) big(c int) []T {
	if !s.keeps() {
		return make([]T, c)
	}
	k := s.bigAt
	s.bigAt++
	for j := k; j < len(s.bigs); j++ {
		if cap(s.bigs[j]) >= c {
			s.bigs[k], s.bigs[j] = s.bigs[j], s.bigs[k]
			s.bigs[k] = s.bigs[k][:c]
			return s.bigs[k][:c:c]
		}
	}
	b := make([]T, c, c+c/8) // room for a round that needs a little more
	s.bigs = append(s.bigs, b)
	last := len(s.bigs) - 1
	s.bigs[k], s.bigs[last] = s.bigs[last], s.bigs[k]
	return b[:c:c]
}

// held returns the bytes of the chunks that the slab keeps or hands out from.
func (s *Slab[T]) held() int64 {
	n := 0
	for _, c := range s.chunks {
		n += len(c)
	}
	for _, b := range s.bigs {
		n += cap(b)
	}
	if len(s.chunks) == 0 {
		n += len(s.cur)
	}
	return int64(n) * int64(sizeOf[T]())
}

func (s *Slab[T]) maxLen() int { return elements[T](maxChunkBytes) }

// elements is how many T a chunk of so many bytes holds; at least one.
func elements[T any](bytes int) int {
	return max(1, (bytes-mallocHeader)/max(1, sizeOf[T]()))
}

func sizeOf[T any]() int {
	var z T
	return int(unsafe.Sizeof(z))
}
