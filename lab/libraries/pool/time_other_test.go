//go:build !unix

package pool

import "time"

// processTime stands in for processor time, which has no portable source, by the
// clock.
func processTime() int64 { return time.Now().UnixNano() }
