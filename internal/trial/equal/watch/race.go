//go:build race

package watch

import "runtime"

// races is the number of data races that were reported.
func races() int { return runtime.RaceErrors() }
