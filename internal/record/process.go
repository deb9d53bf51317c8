package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// process is a child that runs in a process group of its own, so that an
// interrupt typed at the terminal reaches us alone and the child can be
// recorded to its end.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended and its output is copied
	err  error         // of Wait, after done
}

// startProcess starts cmd, with what it prints on standard error going to
// stderr unless that is nil. Whatever becomes of the caller, wait for done or
// call end.
func startProcess(cmd *exec.Cmd, stderr io.Writer) (*process, error) {
	cmd.SysProcAttr = ownGroup()
	// A grandchild may hold the output open after the program has ended.
	cmd.WaitDelay = outputDelay
	p := &process{cmd: cmd, done: make(chan struct{})}
	copied := func() {}
	if stderr != nil {
		from, to, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		cmd.Stderr = to
		copied = func() {
			to.Close()
			copyPaced(stderr, from)
		}
	}
	started := make(chan error, 1)
	go func() {
		// Linux ends the child when the thread that made it ends.
		runtime.LockOSThread()
		defer close(p.done)
		err := cmd.Start()
		rest := make(chan struct{})
		go func() {
			copied()
			close(rest)
		}()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		select {
		case <-rest:
		case <-time.After(outputDelay):
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// outputDelay is how long output may go on after the program has ended.
const outputDelay = 2 * time.Second

// copyPaced copies until from ends, which it closes. The runtime prints a
// gctrace line in dozens of writes; waking up for each would cost more than all
// the rest of a recording, so it lets them gather. It never waits while there
// is much to read: the program must not block.
func copyPaced(to io.Writer, from *os.File) {
	defer from.Close()
	const gather, much = 10 * time.Millisecond, 16 << 10
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			to.Write(buf[:n]) // the tail and the log keep their own errors
		}
		if err != nil {
			return
		}
		if n < much {
			time.Sleep(gather)
		}
	}
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// end interrupts the process and its group, and kills them when they have not
// ended after grace. It returns when the process has ended.
func (p *process) end(grace time.Duration) {
	if p.running() && interruptGroup(p.cmd.Process) == nil {
		select {
		case <-p.done:
		case <-time.After(grace):
		}
	}
	if p.running() {
		killGroup(p.cmd.Process)
	}
	<-p.done
}

// failure says how the process ended if that was not well.
func (p *process) failure() error {
	if errors.Is(p.err, exec.ErrWaitDelay) {
		return nil
	}
	return p.err
}

// peakRSS is the largest resident set of the process so far, 0 when not known.
func (p *process) peakRSS() int64 {
	if !p.running() {
		return peakRSSAfter(p.cmd.ProcessState)
	}
	if runtime.GOOS != "linux" {
		return 0
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	if f := strings.Fields(rest); len(f) > 0 {
		kib, _ := strconv.ParseInt(f[0], 10, 64)
		return kib << 10
	}
	return 0
}

// shell is a command line as the user's shell would run it.
func shell(line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command("cmd", "/C", line)
	}
	return exec.Command("sh", "-c", line)
}

// tail keeps the end of what is written to it, and hands everything on. It is
// safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	next io.Writer // nil: nowhere
	buf  []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	if t.next != nil {
		// A reader that has gone away must not break the program's pipe.
		if _, err := t.next.Write(p); err != nil {
			t.next = nil
		}
	}
	return len(p), nil
}

// String returns the last lines written.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lastLines(string(bytes.TrimSpace(t.buf)), 10)
}

// waitFor calls ready every so often until it holds. It fails when the process
// ends or ctx does.
func (p *process) waitFor(ctx context.Context, every time.Duration, ready func() bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ready() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.done:
			return errEnded
		case <-tick.C:
		}
	}
	return nil
}

// errEnded says that the program ended while it was needed.
var errEnded = errors.New("the program ended")
