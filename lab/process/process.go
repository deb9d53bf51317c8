//go:build unix

// Package process runs commands and says what they took.
package process

import (
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// Usage is what a process took.
type Usage struct {
	Wall, CPU time.Duration
	Resident  int64 // bytes, at most
}

// Run runs a command to its end. An exit code other than 0 is an error, after which the
// usage holds too.
func Run(cmd *exec.Cmd) (Usage, error) {
	start := time.Now()
	err := cmd.Run()
	u := Usage{Wall: time.Since(start)}
	if cmd.ProcessState == nil {
		return u, err
	}
	u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if ru, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.Resident = ru.Maxrss << 10 // Linux counts in KiB
	}
	return u, err
}

// Median is the median of a figure of some runs.
func Median(runs []Usage, of func(Usage) float64) float64 {
	var v []float64
	for _, u := range runs {
		v = append(v, of(u))
	}
	slices.Sort(v)
	n := len(v)
	if n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[n/2]
}
