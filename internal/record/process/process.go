// Package process runs the child programs that are measured. Each runs in its own
// process group and is interrupted before it is killed; the package reports its CPU
// time and its largest resident set.
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

// Process is a child in its own process group: an interrupt typed at the terminal
// reaches only heaptrim, which can then record the child to its end.
type Process struct {
	Cmd  *exec.Cmd
	Done chan struct{} // closed when it has ended and its output is copied
	err  error         // of Wait, after Done
	peak atomic.Int64  // the largest resident set that Watch has seen
}

// Start starts cmd. Its standard error goes to stderr unless that is nil. The caller
// must wait for Done or call End in every case.
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
		// Linux kills the child (Pdeathsig) when the thread that started it ends.
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

// outputDelay is how long output may continue after the program has ended.
const outputDelay = 2 * time.Second

// copyPaced copies until from ends, and closes it. The runtime prints a gctrace line
// in dozens of writes. Waking up for each would cost more than the rest of a
// recording, so copyPaced waits between reads. It does not wait while there is much to
// read: the program must not block.
func copyPaced(to io.Writer, from *os.File) {
	defer from.Close()
	const gather, much = 10 * time.Millisecond, 16 << 10
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			to.Write(buf[:n]) // the tail and the log handle their own errors
		}
		if err != nil {
			return
		}
		if n < much {
			time.Sleep(gather)
		}
	}
}

// Running reports whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.Done:
		return false
	default:
		return true
	}
}

// End interrupts the process and its group, and kills them if they have not ended
// after grace. It returns when the process has ended.
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

// Failure returns how the process ended, or nil if it succeeded.
func (p *Process) Failure() error {
	if errors.Is(p.err, exec.ErrWaitDelay) {
		return nil
	}
	return p.err
}

// Shell returns the command that runs line in the user's shell.
func Shell(line string) *exec.Cmd {
	if runtime.GOOS == "windows" {
		return exec.Command("cmd", "/C", line)
	}
	return exec.Command("sh", "-c", line)
}

// WaitFor calls ready at the given interval until it returns true. It fails when the
// process or ctx ends.
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

// ErrEnded means that the program ended while it was still needed.
var ErrEnded = errors.New("the program ended")
