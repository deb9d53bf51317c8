package process

import (
	"syscall"
	"time"
	"unsafe"
)

// clockCPU reads the CPU clock of another process, clock_getcpuclockid(3). It counts
// in nanoseconds; /proc counts in hundredths of a second.
func clockCPU(pid int) (time.Duration, bool) {
	// As the kernel's make_process_cpuclock does: the inverted process id and
	// CPUCLOCK_SCHED, the CPU time of all its threads.
	const sched = 2
	var t syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(int32(^pid<<3|sched)),
		uintptr(unsafe.Pointer(&t)), 0)
	return time.Duration(t.Nano()), errno == 0
}
