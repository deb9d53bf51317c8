//go:build unix

package pool

import "syscall"

// processTime returns the user and system time of the process, in nanoseconds.
func processTime() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
