// Package promise has functions that must not allocate.
package promise

var last *int

//heaptrim:noalloc
func Moved(n int) int {
	v := n // want `Moved promises noalloc: the variable .v. is moved to the heap`
	last = &v
	return v
}

//heaptrim:noalloc
func Callee(n int) int {
	return inner(n)
}

//go:noinline
func inner(n int) int {
	p := new(int) // want `Callee promises noalloc: in inner: .new.int.. escapes to heap`
	last = p
	return n
}

//heaptrim:noalloc
func Fine(list []int) (n int) {
	for _, v := range list {
		n += v
	}
	if n < 0 {
		panic("negative: " + string(rune(n)))
	}
	return n
}

//heaptrim:noalloc
func Grows(list []int) []int { return append(list, 1) }

//heaptrim:noalloc go1.99 in a release that is not there yet
func Later(n int) int {
	v := n
	last = &v
	return v
}

//heaptrim:noalloc go1.x // want `heaptrim:noalloc go1.x: want a Go release such as go1.27`
func Wrong() {}

//heaptrim:never // want `heaptrim:never: want noalloc`
func Never() {}

//heaptrim:noalloc // want `want noalloc or allocs<=N on a function, nogrow on a type`
type T struct{}
