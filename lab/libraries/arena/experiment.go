//go:build goexperiment.arenas

package arenas

import (
	"arena"
	"unsafe"
)

func experimentAppend[T any](a *arena.Arena, v []T, x T) []T {
	if len(v) < cap(v) {
		return append(v, x)
	}
	w := arena.MakeSlice[T](a, len(v), max(4, 2*cap(v)))
	copy(w, v)
	return append(w, x)
}

func experimentString(a *arena.Arena, b []byte) string {
	if len(b) == 0 {
		return ""
	}
	d := arena.MakeSlice[byte](a, len(b), len(b))
	copy(d, b)
	return unsafe.String(&d[0], len(d))
}
