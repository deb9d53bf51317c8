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
	k := uint(0)
	if n > minSize {
		// 2^(e-1) < n <= 2^e, e >= 7. On amd64, Len32 is shorter than Len. From 2^32 on e
		// is wrong, and the result all the same too large: q makes up for it, or it wraps.
		e := uint(bits.Len32(uint32(n - 1)))
		q := uint(n-1) >> ((e - 3) & 63) // the three upper bits of n-1: 4 … 7
		k = e*4 + q - 31
	}
	return k
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
// collector drops the rest. Where that shows to be too few, it keeps up to deepening
// times as much, so long as all classes together stay below 1/cacheBudget: what goes
// to the depot and back comes in another order, and is no longer in the processor's
// cache.
const (
	stackLen    = 60
	stackMin    = 4
	cacheShare  = 256
	deepening   = 4
	cacheBudget = 6
)

// stackDepth returns how many buffers of size bytes a cache has room for in any case.
func stackDepth(size int, maxBytes int64) int {
	share := maxBytes / cacheShare
	if int64(size) > share {
		return 0
	}
	return int(min(stackLen, max(stackMin, share/int64(size))))
}

// stackDeepest returns how many buffers of size bytes a cache keeps at most.
func stackDeepest(size int, maxBytes int64) int {
	depth := stackDepth(size, maxBytes)
	if depth == 0 {
		return 0
	}
	return int(min(stackLen, max(int64(depth), deepening*(maxBytes/cacheShare)/int64(size))))
}

// batchOf returns how many buffers change hands at once between a depot and a cache
// that has room for depth of them: about half, and where they are many, pointers that
// fill cache lines.
func batchOf(depth int) int {
	if depth < 16 {
		return max(1, depth/2)
	}
	return (depth/2 + 4) &^ 7
}
