// Package process runs child programs that are measured: each in a process
// group of its own, ended in order, with its largest resident set.
package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"
)

// Process is a child that runs in a process group of its own, so that an
// interrupt typed at the terminal reaches us alone and the child can be
// recorded to its end.
type Process struct {
	Cmd  *exec.Cmd
	Done chan struct{} // closed when it has ended and its output is copied
	err  error         // of Wait, after Done
	peak atomic.Int64  // the largest resident set that Watch has seen
}

// Start starts cmd, with what it prints on standard error going to
// stderr unless that is nil. Whatever becomes of the caller, wait for Done or
// call End.
func Start(cmd *exec.Cmd, stderr io.Writer) (*Process, error) {
	cmd.SysProcAttr = ownGroup()
	// A grandchild may hold the output open after the program has ended.
	cmd.WaitDelay = outputDelay
	p := &Process{Cmd: cmd, Done: make(chan struct{})}
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
		defer close(p.Done)
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

// Running tells whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.Done:
		return false
	default:
		return true
	}
}

// End interrupts the process and its group, and kills them when they have not
// ended after grace. It returns when the process has ended.
func (p *Process) End(grace time.Duration) {
	if p.Running() && interruptGroup(p.Cmd.Process) == nil {
		select {
		case <-p.Done:
		case <-time.After(grace):
		}
	}
	if p.Running() {
		killGroup(p.Cmd.Process)
	}
	<-p.Done
}

// Failure says how the process ended if that was not well.
func (p *Process) Failure() error {
	if errors.Is(p.err, exec.ErrWaitDelay) {
		return nil
	}
	return p.err
}

// shell is a command line as the user's shell would run it.
func shell(line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command("cmd", "/C", line)
	}
	return exec.Command("sh", "-c", line)
}

// WaitFor calls ready every so often until it holds. It fails when the process
// ends or ctx does.
func (p *Process) WaitFor(ctx context.Context, every time.Duration, ready func() bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !ready() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.Done:
			return ErrEnded
		case <-tick.C:
		}
	}
	return nil
}

// ErrEnded says that the program ended while it was needed.
var ErrEnded = errors.New("the program ended")
