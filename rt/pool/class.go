package pool

import (
	"math"
	"math/bits"
)

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
	// A float64 begins with its exponent and, as the classes go by quarters of a doubling,
	// two bits of the rest. 63 is in the last quarter before minSize.
	return uint(math.Float64bits(float64(max(n-1, minSize-1)))>>50) - (1023+5)*4 - 3
}

// classIs returns the class whose buffers have size bytes. For another size the result
// is any class, or no class. It waits less long than classOf for size, which Put loads.
func classIs(size int) uint {
	e := uint(bits.Len32(uint32(size)))
	return e*4 + uint(size)>>((e-3)&63) - 32
}

// classSize returns the bytes in a buffer of class k.
func classSize(k uint) int {
	return int(math.Float64frombits(uint64(k+(1023+6)*4) << 50))
}

// Size classes of a Local: class k has buffers of 1<<k bytes, from minSize to 1 MiB. The
// classes below are not used.
const localClasses = 21

// localClass returns the class of a Local that holds n bytes. The result is localClasses
// or more if none does, and for 0.
func localClass(n int) uint { return uint(bits.Len(uint(n-1) | (minSize - 1))) }

// localClassIs returns the class of a Local whose buffers have size bytes. For another size
// the result is any class, or no class.
func localClassIs(size int) uint { return uint(bits.Len(uint(size)|1)) - 1 }

// A Local holds up to stackLen buffers of a class, but not more than make largeStack
// bytes, or stackMin.
const (
	stackLen   = 32
	stackMin   = 8
	largeStack = 2 << 20
)

// stackDepth returns how many buffers of size bytes a Local holds at most.
func stackDepth(size int) int {
	return min(stackLen, max(stackMin, largeStack/size))
}
