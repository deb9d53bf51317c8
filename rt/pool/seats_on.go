//go:build gc && !tinygo && (amd64 || arm64) && !go1.28 && !asan && !msan && !heaptrimnoseats

package pool

// seated says that goroutines have caches of their own; see seats.
const seated = true
