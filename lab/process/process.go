//go:build unix

// Package process runs commands and says what they took.
package process

import (
	"fmt"
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

// Ratios compares a figure of two commands that ran in turns, run by run: median, and quartiles in brackets.
func Ratios(runs, base []Usage, of func(Usage) float64) string {
	var list []float64
	for i := range runs {
		list = append(list, of(runs[i])/of(base[i]))
	}
	slices.Sort(list)
	at := func(part float64) float64 {
		place := part * float64(len(list)-1)
		below := int(place)
		above := min(below+1, len(list)-1)
		return list[below] + (place-float64(below))*(list[above]-list[below])
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", at(0.5), at(0.25), at(0.75))
}
