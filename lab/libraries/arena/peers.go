package arenas

import (
	"unsafe"

	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/heaptrim/heaptrim/rt/arena"
	"modernc.org/memory"
)

// slabs is heaptrim's arena with the slabs that a user would hold.
type slabs struct {
	arena        *arena.Arena
	branchSlab   *arena.Slab[branch]
	leafSlab     *arena.Slab[leaf]
	metaSlab     *arena.Slab[meta]
	profileSlab  *arena.Slab[profile]
	sampleSlab   *arena.Slab[sample]
	labelSlab    *arena.Slab[label]
	locationSlab *arena.Slab[location]
	functionSlab *arena.Slab[function]
	mappingSlab  *arena.Slab[mapping]
	lineSlab     *arena.Slab[line]
	int64s       *arena.Slab[int64]
	strings      *arena.Slab[string]
	samplePtrs   *arena.Slab[*sample]
	labelPtrs    *arena.Slab[*label]
	locationPtrs *arena.Slab[*location]
	functionPtrs *arena.Slab[*function]
	mappingPtrs  *arena.Slab[*mapping]
}

func newSlabs(reuse bool) *slabs {
	a := arena.Make(arena.Options{Reuse: reuse})
	return &slabs{
		a, arena.SlabOf[branch](a), arena.SlabOf[leaf](a), arena.SlabOf[meta](a), arena.SlabOf[profile](a),
		arena.SlabOf[sample](a), arena.SlabOf[label](a), arena.SlabOf[location](a), arena.SlabOf[function](a),
		arena.SlabOf[mapping](a), arena.SlabOf[line](a), arena.SlabOf[int64](a), arena.SlabOf[string](a),
		arena.SlabOf[*sample](a), arena.SlabOf[*label](a), arena.SlabOf[*location](a), arena.SlabOf[*function](a),
		arena.SlabOf[*mapping](a),
	}
}

// The allocators below hand out bytes, which the collector does not search for
// pointers: with them the workloads are only right because all that they point
// to is in the same arena, or static.

// ristretto's z.Allocator: bytes cast to structs, as its documentation says to.

func zNew[T any](a *z.Allocator) *T {
	return (*T)(unsafe.Pointer(unsafe.SliceData(a.AllocateAligned(sizeOf[T](1)))))
}

func zSlice[T any](a *z.Allocator, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(a.AllocateAligned(sizeOf[T](n))))), n)
}

func zAppend[T any](a *z.Allocator, v []T, x T) []T {
	if len(v) < cap(v) {
		return append(v, x)
	}
	w := zSlice[T](a, max(4, 2*cap(v)))
	return append(w[:copy(w, v)], x)
}

func zString(a *z.Allocator, b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return unsafe.String(unsafe.SliceData(a.Copy(b)), len(b))
}

// modernc.org/memory: malloc on mmap.

func cNew[T any](a *memory.Allocator) *T {
	return (*T)(calloc(a, sizeOf[T](1)))
}

func cSlice[T any](a *memory.Allocator, n int) []T {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(calloc(a, sizeOf[T](n))), n)
}

func cAppend[T any](a *memory.Allocator, v []T, x T) []T {
	if len(v) < cap(v) {
		return append(v, x)
	}
	w := cSlice[T](a, max(4, 2*cap(v)))
	return append(w[:copy(w, v)], x)
}

func cString(a *memory.Allocator, b []byte) string {
	d := cSlice[byte](a, len(b))
	copy(d, b)
	return unsafe.String(unsafe.SliceData(d), len(d))
}

func calloc(a *memory.Allocator, n int) unsafe.Pointer {
	p, err := a.UnsafeCalloc(n)
	if err != nil {
		panic(err) // out of memory
	}
	return p
}

// bump is the technique of arenas such as ortuman/nuke, whose module the proxy
// does not serve: bytes from buffers, behind an interface.

type bumper interface {
	alloc(size, align uintptr) unsafe.Pointer
	reset(release bool)
}

const bumpBytes = 64 << 10

type bump struct {
	buffers [][]byte
	at      int
	offset  uintptr
}

func newBump() bumper { return new(bump) }

func (a *bump) alloc(size, align uintptr) unsafe.Pointer {
	for {
		if a.at < len(a.buffers) {
			b := a.buffers[a.at]
			start := (a.offset + align - 1) &^ (align - 1)
			if start+size <= uintptr(len(b)) {
				a.offset = start + size
				clear(b[start:a.offset])
				return unsafe.Pointer(&b[start])
			}
			a.at, a.offset = a.at+1, 0
			continue
		}
		a.buffers = append(a.buffers, make([]byte, max(bumpBytes, size)))
	}
}

func (a *bump) reset(release bool) {
	a.at, a.offset = 0, 0
	if release {
		a.buffers = nil
	}
}

func bumpNew[T any](a bumper) *T {
	var zero T
	return (*T)(a.alloc(unsafe.Sizeof(zero), unsafe.Alignof(zero)))
}

func bumpSlice[T any](a bumper, n int) []T {
	if n == 0 {
		return nil
	}
	var zero T
	return unsafe.Slice((*T)(a.alloc(uintptr(sizeOf[T](n)), unsafe.Alignof(zero))), n)
}

func bumpAppend[T any](a bumper, v []T, x T) []T {
	if len(v) < cap(v) {
		return append(v, x)
	}
	w := bumpSlice[T](a, max(4, 2*cap(v)))
	return append(w[:copy(w, v)], x)
}

func bumpString(a bumper, b []byte) string {
	d := bumpSlice[byte](a, len(b))
	copy(d, b)
	return unsafe.String(unsafe.SliceData(d), len(d))
}

// typed is the technique of the typed arena of joetifa2003/mm-go, whose module the
// proxy does not serve: chunks for a fixed number of values of one type, from an
// allocator outside of the heap, handed out by index and given back together. Here
// that allocator is modernc's, which lasts and keeps pages for what comes next,
// as the C library's does there.
type typed[T any] struct {
	last []T // the chunk being handed out
	n    int // how much of it is
}

// Measured: with 64 or 256 KiB the tree takes 1.6 times as long, with 8 as long.
const typedBytes = 16 << 10

// offHeap lists the chunks of all types.
type offHeap struct {
	memory memory.Allocator
	chunks []unsafe.Pointer
}

func (a *typed[T]) new(from *offHeap) *T {
	if a.n == len(a.last) {
		a.more(from, 1)
	}
	a.n++
	return &a.last[a.n-1]
}

func (a *typed[T]) slice(from *offHeap, n int) []T {
	if n > len(a.last)-a.n {
		a.more(from, n)
	}
	a.n += n
	return a.last[a.n-n : a.n : a.n]
}

func (a *typed[T]) append(from *offHeap, v []T, x T) []T {
	if len(v) < cap(v) {
		return append(v, x)
	}
	w := a.slice(from, max(4, 2*cap(v)))
	return append(w[:copy(w, v)], x)
}

// more begins a chunk, larger than others if one slice needs that.
//
//go:noinline
func (a *typed[T]) more(from *offHeap, n int) {
	n = max(n, typedBytes/sizeOf[T](1))
	p := calloc(&from.memory, sizeOf[T](n))
	from.chunks = append(from.chunks, p)
	a.last, a.n = unsafe.Slice((*T)(p), n), 0
}

// typeds is an arena for each type, as a user would hold them.
type typeds struct {
	from         *offHeap
	branchSlab   typed[branch]
	leafSlab     typed[leaf]
	metaSlab     typed[meta]
	profileSlab  typed[profile]
	sampleSlab   typed[sample]
	labelSlab    typed[label]
	locationSlab typed[location]
	functionSlab typed[function]
	mappingSlab  typed[mapping]
	lineSlab     typed[line]
	int64s       typed[int64]
	strings      typed[string]
	samplePtrs   typed[*sample]
	labelPtrs    typed[*label]
	locationPtrs typed[*location]
	functionPtrs typed[*function]
	mappingPtrs  typed[*mapping]
	text         typed[byte]
}

func newTypeds() *typeds { return &typeds{from: new(offHeap)} }

func (a *typeds) string(b []byte) string {
	d := a.text.slice(a.from, len(b))
	copy(d, b)
	return unsafe.String(unsafe.SliceData(d), len(d))
}

func (a *typeds) free() {
	for _, p := range a.from.chunks {
		if err := a.from.memory.UnsafeFree(p); err != nil {
			panic(err)
		}
	}
	a.from.chunks = a.from.chunks[:0]
	*a = typeds{from: a.from}
}

func sizeOf[T any](n int) int {
	var zero T
	return int(unsafe.Sizeof(zero)) * n
}
