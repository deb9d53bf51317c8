package arenas

import "unsafe"

// heap stands where other candidates have their allocator.
type heap struct{}

// flat is the floor: an array of the exact type, made before the clock starts
// and handed out in order. An object is zeroed as it is handed out; nothing
// is freed, checked or found.
type flat[T any] struct {
	all []T
	n   int
}

func (f *flat[T]) new() *T {
	p := &f.all[f.n]
	f.n++
	var zero T
	*p = zero
	return p
}

func (f *flat[T]) slice(n int) []T {
	v := f.all[f.n : f.n+n : f.n+n]
	f.n += n
	return v
}

func (f *flat[T]) append(v []T, x T) []T {
	if len(v) < cap(v) {
		return append(v, x)
	}
	return f.grow(v, x)
}

//go:noinline
func (f *flat[T]) grow(v []T, x T) []T {
	c := cap(v)
	if c > 0 && unsafe.SliceData(v) == &f.all[f.n-c] {
		lo := f.n - c
		f.n += c
		return append(f.all[lo:lo+len(v):f.n], x)
	}
	w := f.slice(max(4, 2*c))
	return append(w[:copy(w, v)], x)
}

type flats struct {
	branchSlab   flat[branch]
	leafSlab     flat[leaf]
	metaSlab     flat[meta]
	profileSlab  flat[profile]
	sampleSlab   flat[sample]
	labelSlab    flat[label]
	locationSlab flat[location]
	functionSlab flat[function]
	mappingSlab  flat[mapping]
	lineSlab     flat[line]
	int64s       flat[int64]
	strings      flat[string]
	samplePtrs   flat[*sample]
	labelPtrs    flat[*label]
	locationPtrs flat[*location]
	functionPtrs flat[*function]
	mappingPtrs  flat[*mapping]
	text         flat[byte]
}

func newFlats() *flats {
	const few, many = 1 << 17, 1 << 21
	return &flats{
		flatOf[branch](few), flatOf[leaf](few), flatOf[meta](few), flatOf[profile](few), flatOf[sample](few),
		flatOf[label](few), flatOf[location](few), flatOf[function](few), flatOf[mapping](few), flatOf[line](few),
		flatOf[int64](many), flatOf[string](many), flatOf[*sample](many), flatOf[*label](many),
		flatOf[*location](many), flatOf[*function](few), flatOf[*mapping](few), flatOf[byte](4 * many),
	}
}

func flatOf[T any](n int) flat[T] { return flat[T]{all: make([]T, n)} }

func (a *flats) string(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	d := a.text.slice(len(b))
	copy(d, b)
	return unsafe.String(&d[0], len(d))
}

func (a *flats) reset() {
	a.branchSlab.n, a.leafSlab.n, a.metaSlab.n, a.profileSlab.n, a.sampleSlab.n, a.labelSlab.n = 0, 0, 0, 0, 0, 0
	a.locationSlab.n, a.functionSlab.n, a.mappingSlab.n, a.lineSlab.n, a.int64s.n, a.strings.n = 0, 0, 0, 0, 0, 0
	a.samplePtrs.n, a.labelPtrs.n, a.locationPtrs.n, a.functionPtrs.n, a.mappingPtrs.n, a.text.n = 0, 0, 0, 0, 0, 0
}
