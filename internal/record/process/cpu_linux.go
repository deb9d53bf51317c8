package process

import (
	"syscall"
	"time"
	"unsafe"
)

// clockCPU asks the processor clock of another process, clock_getcpuclockid(3):
// it counts in nanoseconds where /proc counts in hundredths of a second.
func clockCPU(pid int) (time.Duration, bool) {
	// The kernel's make_process_cpuclock: the process's number inverted, and
	// CPUCLOCK_SCHED, which is all of its threads' time on a processor.
	const sched = 2
	var t syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(int32(^pid<<3|sched)),
		uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), errno == 0
}
