package pool

import (
	"math"
	"math/bits"
	"testing"
	"unsafe"
)

func TestClasses(t *testing.T) {
	for k := range uint(numClasses) {
		size := classSize(k)
		if got := classOf(size); got != k {
			t.Errorf("classOf(classSize(%d) = %d) = %d", k, size, got)
		}
		if got := classOf(size + 1); got != k+1 {
			t.Errorf("classOf(%d) = %d, want %d", size+1, got, k+1)
		}
		if k > 0 {
			if before := classSize(k - 1); size*4 > (before)*5 {
				t.Errorf("class %d of %d bytes is more than a quarter above %d", k, size, before)
			}
		}
	}
	if got := classSize(numClasses - 1); got != maxSize {
		t.Errorf("largest class is %d, want %d", got, maxSize)
	}
	f := func(n int) {
		t.Helper()
		if got := classOf(n); n > maxSize && got < numClasses {
			t.Errorf("classOf(%d) = %d, a class", n, got)
		}
	}
	f(math.MaxInt)
	for shift := maxShift; shift < bits.UintSize-1; shift++ {
		for low := 1; low < 1<<shift && low > 0; low *= 2 {
			f(1<<shift + low - 1)
			f(1<<shift + low)
			f(1<<shift + low + 1)
		}
	}
}

// The documented mean: over all sizes from 64 bytes up, equally likely.
func TestMeanWaste(t *testing.T) {
	var asked, given float64
	for n := minSize; n <= 1<<20; n++ {
		asked += float64(n)
		given += float64(classSize(classOf(n)))
	}
	if got := given/asked - 1; got > 0.09 {
		t.Errorf("mean waste is %.3f, documented as 0.086", got)
	}
}

func TestCacheBound(t *testing.T) {
	for _, maxBytes := range []int64{1 << 20, 16 << 20, 256 << 20, 4 << 30} {
		total := 0
		for k := range uint(numClasses) {
			total += classSize(k) * stackDepth(classSize(k), maxBytes)
		}
		if limit := maxBytes / 6; int64(total) > limit {
			t.Errorf("a full cache holds %d bytes, documented as at most %d", total, limit)
		}
		total = 0
		for k := range uint(numClasses) {
			total += classSize(k) * trayDepth(classSize(k), maxBytes)
		}
		if limit := maxBytes / 4; int64(total) > limit {
			t.Errorf("full trays hold %d bytes, documented as at most %d", total, limit)
		}
	}
}

// A stack has whole cache lines, an odd number of them; a shelf shares no line with the next,
// and a seat lies within one.
func TestLayout(t *testing.T) {
	if got := unsafe.Sizeof(stack{}); got%128 != 64 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("a stack has %d bytes", got)
	}
	if got := unsafe.Sizeof(shelf{}); got%64 != 0 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("a shelf has %d bytes", got)
	}
	if !seated {
		return
	}
	d, r := newDepot(new(Bytes)), newRows(new(holders)) // where the allocator puts them
	if at := uintptr(unsafe.Pointer(&d.classes)) % 64; at != 0 {
		t.Errorf("the shelves begin at byte %d of a cache line", at)
	}
	for _, list := range []unsafe.Pointer{unsafe.Pointer(&d.seats.list), unsafe.Pointer(&r.list)} {
		if at := uintptr(list) % unsafe.Sizeof(seat[Local]{}); at != 0 {
			t.Errorf("seats begin at byte %d of one, across cache lines", at)
		}
	}
}

// TestWord: the pointer in an interface is read as it was put, of whatever type.
func TestWord(t *testing.T) {
	n, l := new(int), new(Local)
	for _, x := range []struct {
		in   any
		want unsafe.Pointer
	}{{n, unsafe.Pointer(n)}, {l, unsafe.Pointer(l)}, {unsafe.Pointer(l), unsafe.Pointer(l)}, {nil, nil}, {(*int)(nil), nil}} {
		if got := word(x.in); got != x.want {
			t.Errorf("word(%T) is %p, want %p", x.in, got, x.want)
		}
	}
}
