//go:build !unix

package watch

import "time"

// used is the time since the process began, where its CPU time is not known.
func used() time.Duration { return time.Since(began) }

var began = time.Now()
