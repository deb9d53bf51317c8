package pool

import "math/bits"

// Size classes: 64 bytes, then four for each doubling (80, 96, 112, 128, 160 …)
// up to maxSize. A buffer is at most a quarter larger than asked for, and 8.6 %
// on the mean over all sizes. Eight a doubling would halve that, and double the
// number of stacks that compete for the processor's cache.
const (
	minSize    = 64
	maxShift   = 25
	maxSize    = 1 << maxShift // 32 MiB
	numClasses = (maxShift-6)*4 + 1
)

// classOf returns the class that holds n bytes. The result is numClasses or more
// if none does.
func classOf(n int) uint {
	if n <= minSize {
		return 0
	}
	e := uint(bits.Len(uint(n - 1))) // 2^(e-1) < n <= 2^e, e >= 7
	q := uint(n-1) >> ((e - 3) & 63) // the three upper bits of n-1: 4 … 7
	return e*4 + q - 31
}

// classSize returns the bytes in a buffer of class k.
func classSize(k uint) int {
	if k == 0 {
		return minSize
	}
	e, q := (k-1)/4, (k-1)%4
	return int((q + 5) << (e + 4))
}

// A cache keeps stackLen buffers of a small class, fewer of a large one so that a
// class takes no more than stackBytes, but stackMin, and none above cachedSize.
// With fewer than four, the cache is too small for what 16 buffers out vary by, and
// the collector drops the rest.
const (
	stackLen   = 28
	stackMin   = 4
	stackBytes = 512 << 10
	cachedSize = 1 << 20
)

// stackDepth returns how many buffers of size bytes a cache keeps.
func stackDepth(size int) int {
	if size > cachedSize {
		return 0
	}
	return min(stackLen, max(stackMin, stackBytes/size))
}
