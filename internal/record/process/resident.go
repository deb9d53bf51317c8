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

// watchEvery is how often Watch looks. What a process gains in the last such
// time before it ends is not seen.
const watchEvery = 10 * time.Millisecond

// Watch waits until the process or ctx ends. Meanwhile it looks at the largest
// resident set, for PeakRSS: of a process that has ended Linux tells only what
// its parent's or one of its children's may be too.
func (p *Process) Watch(ctx context.Context) {
	status, err := os.Open(statusFile(p.Cmd.Process.Pid))
	if err != nil { // no Linux, or it has ended
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
		// The file stays that of this process, even if its number is another's.
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

// PeakRSS is the largest resident set of the process so far, in bytes, 0 when
// not known. Of a process that has ended it is what Watch has seen.
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

// statusFile is where Linux tells what a process has.
func statusFile(pid int) string { return fmt.Sprintf("/proc/%d/status", pid) }

// highWater reads the largest resident set of a status file, in bytes; 0 if it
// has none, as that of a process that has ended.
func highWater(status []byte) int64 {
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	if f := bytes.Fields(rest); len(f) > 0 {
		kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
		return kib << 10
	}
	return 0
}
