//go:build unix

package process

import (
	"os"
	"runtime"
	"syscall"
)

func interruptGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }

func killGroup(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGKILL) }

// peakRSSAfter returns 0 on Linux when the figure may be our own: a child starts with
// its parent's largest resident set (mm_update_hiwater_rss at exec), so only larger
// values are the child's.
func peakRSSAfter(s *os.ProcessState) int64 {
	use, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(use.Maxrss) // bytes there, KiB elsewhere
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil || use.Maxrss <= own.Maxrss {
		return 0
	}
	return int64(use.Maxrss) << 10
}
