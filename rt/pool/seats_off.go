//go:build !(gc && !tinygo && (amd64 || arm64) && !go1.28 && !asan && !msan && !heaptrimnoseats)

package pool

import "unsafe"

const seated = false

func goroutine() uintptr { return 0 }

func fetch(*unsafe.Pointer, int) {}
