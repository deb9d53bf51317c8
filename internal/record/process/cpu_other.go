//go:build !linux

package process

import "time"

// clockCPU cannot be had here.
func clockCPU(int) (time.Duration, bool) { return 0, false }
