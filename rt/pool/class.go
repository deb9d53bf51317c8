package pool

import "math/bits"

// Size classes: 64 bytes, then four for each doubling (80, 96, 112, 128, 160 …)
// up to maxSize. A buffer is at most a quarter larger than asked for, and 8.6 %
// on the mean over all sizes.
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
		// 2^(e-1) < n <= 2^e, e >= 7. Len32 is shorter than Len on amd64. From 2^32 on
		// e is wrong, but the result is still too large: q makes up for it, or it wraps.
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

// A Local holds up to stackLen buffers of a class, but not more than make largeStack
// bytes, or stackMin; and none that are larger than largest.
const (
	stackLen   = 32
	stackMin   = 8
	largeStack = 2 << 20
	largest    = 1 << 20
)

// stackDepth returns how many buffers of size bytes a Local holds at most.
func stackDepth(size int) int {
	if size > largest {
		return 0
	}
	return min(stackLen, max(stackMin, largeStack/size))
}
