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
	// 2^(e-1) < n <= 2^e, e >= 7. On amd64, Len32 is shorter than Len. From 2^32 on e
	// is wrong, and the result all the same too large: q makes up for it, or it wraps.
	e := uint(bits.Len32(uint32(n - 1)))
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

// A cache keeps stackLen buffers of a small class, and fewer of a large one: as many
// as make 1/cacheShare of MaxBytes, but stackMin; and none that are larger. With
// fewer than four, the cache is too small for what 16 buffers out vary by, and the
// collector drops the rest.
const (
	stackLen   = 60
	stackMin   = 4
	cacheShare = 256
)

// stackDepth returns how many buffers of size bytes a cache keeps.
func stackDepth(size int, maxBytes int64) int {
	share := maxBytes / cacheShare
	if int64(size) > share {
		return 0
	}
	return int(min(stackLen, max(stackMin, share/int64(size))))
}
