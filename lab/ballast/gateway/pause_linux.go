package gateway

import (
	"syscall"
	"time"
)

// pause is not a timer of the runtime's, which on Linux may be late by a millisecond.
// Interrupted, it is early.
func pause(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil)
}
