//go:build !linux

package ballast

// Elsewhere than on Linux it is not known how to see that memory is not resident.
// GOGC alone does what the ballast does.
const canStayVirtual = false

func reservable(int64) bool { return false }

func keepVirtual([]byte) bool { return false }

func resident([]byte) (int64, error) { return 0, nil }
