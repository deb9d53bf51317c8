package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

// watchEvery is the interval at which Watch reads the resident set. Growth in the last
// interval before the process ends is missed.
const watchEvery = 10 * time.Millisecond

// Watch waits until the process or ctx ends and tracks the largest resident set for
// PeakRSS. After a process has ended, Linux reports a figure that may be its parent's
// or a child's instead.
func (p *Process) Watch(ctx context.Context) {
	status, err := os.Open(statusFile(p.Cmd.Process.Pid))
	if err != nil { // not Linux, or the process has ended
		select {
		case <-ctx.Done():
		case <-p.Done:
		}
		return
	}
	defer status.Close()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	buf := make([]byte, 8<<10)
	for {
		// The open file stays with this process even if its pid is reused.
		if n, _ := status.ReadAt(buf, 0); n > 0 {
			p.peak.Store(max(p.peak.Load(), highWater(buf[:n])))
		}
		select {
		case <-ctx.Done():
			return
		case <-p.Done:
			return
		case <-tick.C:
		}
	}
}

// PeakRSS returns the largest resident set of the process so far in bytes, 0 if
// unknown. For a process that has ended it is the largest that Watch has seen.
func (p *Process) PeakRSS() int64 {
	if !p.Running() {
		if seen := p.peak.Load(); seen > 0 {
			return seen
		}
		return peakRSSAfter(p.Cmd.ProcessState)
	}
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile(statusFile(p.Cmd.Process.Pid))
	if err != nil {
		return 0
	}
	return highWater(status)
}

// statusFile is the file with a process's memory figures on Linux.
func statusFile(pid int) string { return fmt.Sprintf("/proc/%d/status", pid) }

// highWater reads the largest resident set from a status file, in bytes; 0 if the file
// has none, as for a process that has ended.
func highWater(status []byte) int64 {
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	if f := bytes.Fields(rest); len(f) > 0 {
		kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
		return kib << 10
	}
	return 0
}
