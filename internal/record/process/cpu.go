package process

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

// CPU returns the user and system time that the process has used so far. ok is false
// where the system does not report it for a running process; after the process has
// ended, it is always known.
func (p *Process) CPU() (cpu time.Duration, ok bool) {
	if !p.Running() {
		s := p.Cmd.ProcessState
		return s.UserTime() + s.SystemTime(), true
	}
	if runtime.GOOS != "linux" {
		return 0, false
	}
	if cpu, ok := clockCPU(p.Cmd.Process.Pid); ok {
		return cpu, true
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	return statCPU(text)
}

// statCPU reads a line of /proc/PID/stat, proc_pid_stat(5). The program's name, in
// parentheses, may contain any character. The times are the 12th and 13th field after
// it, always in hundredths of a second.
func statCPU(line []byte) (time.Duration, bool) {
	f := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(f) < 13 {
		return 0, false
	}
	user, err := strconv.ParseInt(string(f[11]), 10, 64)
	if err != nil {
		return 0, false
	}
	system, err := strconv.ParseInt(string(f[12]), 10, 64)
	return time.Duration(user+system) * (time.Second / 100), err == nil
}
