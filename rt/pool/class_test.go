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
		if got := classIs(size); got != k {
			t.Errorf("classIs(classSize(%d) = %d) = %d", k, size, got)
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
	var asked, given, local float64
	for n := minSize; n <= 1<<20; n++ {
		asked += float64(n)
		given += float64(classSize(classOf(n)))
		local += float64(int(1) << localClass(n))
	}
	if got := given/asked - 1; got > 0.09 {
		t.Errorf("mean waste is %.3f, documented as 0.086", got)
	}
	if got := local/asked - 1; got > 0.334 {
		t.Errorf("mean waste of a Local is %.3f, documented as a third", got)
	}
}

// A Local takes the smallest power of two that holds n bytes, and Put finds the same class.
func TestLocalClass(t *testing.T) {
	for n := 1; n <= 1<<20; n++ {
		k := localClass(n)
		size := 1 << k
		if size < max(n, minSize) || size > max(2*n-1, minSize) {
			t.Fatalf("%d bytes are in class %d", n, k)
		}
		if got := localClassIs(size); got != k {
			t.Fatalf("Get has class %d of %d bytes, Put %d", k, size, got)
		}
		if pool := classOf(size); classSize(pool) != size {
			t.Fatalf("the pool has no class of %d bytes", size)
		}
	}
	for _, n := range []int{0, -1, math.MinInt, 1<<20 + 1, maxSize, math.MaxInt} {
		if k := localClass(n); k < localClasses {
			t.Errorf("%d bytes are in class %d", n, k)
		}
	}
	if got := stackDepth(1 << (localClasses - 1)); got != 8 {
		t.Errorf("a Local holds %d of the largest buffers", got)
	}
}

// The documented bounds of a Local.
func TestCacheBound(t *testing.T) {
	for k := range localClasses {
		size := 1 << k
		if depth := stackDepth(size); depth > 32 || depth > 8 && depth*size > 2<<20 || depth == 0 {
			t.Errorf("a Local holds %d buffers of %d bytes", depth, size)
		}
	}
}

// A stack has whole cache lines, an odd number of them; what is written of one class does
// not share lines with others.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		return
	}
	if got := unsafe.Sizeof(stack{}); got%128 != 64 {
		t.Errorf("a stack has %d bytes", got)
	}
	for name, got := range map[string]uintptr{"class": unsafe.Sizeof(class{}), "shelf": unsafe.Sizeof(shelf{})} {
		if got%64 != 0 {
			t.Errorf("a %s has %d bytes", name, got)
		}
	}
}
