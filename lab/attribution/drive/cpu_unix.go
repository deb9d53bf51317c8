//go:build unix

package drive

import "syscall"

// processCPU returns the user and system time of the process in nanoseconds,
// 0 where the system does not say.
func processCPU() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
