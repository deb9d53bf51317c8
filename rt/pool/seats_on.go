//go:build gc && !tinygo && (amd64 || arm64) && !go1.28 && !asan && !msan && !heaptrimnoseats

package pool

import "unsafe"

// seated says that goroutines have caches of their own; see seats.
const seated = true

// goroutine returns the address of what the runtime knows the running goroutine by.
func goroutine() uintptr

// fetch has the processor get the first lines of n buffers, at least one, for writing,
// the last first, while the program goes on; p is where their addresses begin.
//
//go:noescape
func fetch(p *unsafe.Pointer, n int)
