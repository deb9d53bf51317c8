//go:build !linux

package process

import "time"

// clockCPU is not available on this system.
func clockCPU(int) (time.Duration, bool) { return 0, false }
