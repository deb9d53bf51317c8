//go:build !(gc && !tinygo && (amd64 || arm64) && !go1.28 && !asan && !msan && !heaptrimnoseats)

package pool

const seated = false

func goroutine() uintptr { return 0 }
