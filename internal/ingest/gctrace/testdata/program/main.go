// A program for the test data: a growing pointerful heap, garbage, one forced
// collection, and text of its own on standard error.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

type node struct {
	next *node
	pad  [3]int
}

func main() {
	var keep *node
	var garbage []byte
	for i := range 400_000 {
		keep = &node{next: keep}
		garbage = make([]byte, 256)
		if i%50_000 == 0 {
			fmt.Fprintf(os.Stderr, "at %d, ", i) // no newline
		}
	}
	fmt.Fprintln(os.Stderr, "done", len(garbage), strings.Repeat("gc ", 3))
	runtime.GC()
	runtime.KeepAlive(keep)
}
