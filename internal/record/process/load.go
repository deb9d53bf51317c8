package process

import (
	"context"
	"fmt"
	"time"
)

// Settle is how long a program without a ready URL gets to start before its load
// begins.
const Settle = time.Second

// EndGrace is how long a program or a load may take to end after an interrupt.
const EndGrace = 10 * time.Second

// readyTimeout is long, since building an index can take a while.
const readyTimeout = 2 * time.Minute

// loadTail is how many bytes of a load's output are kept. Its summary comes last.
const loadTail = 512 << 10

// Load is a command that drives a program.
type Load struct {
	Command string        // a line for the user's shell
	Dir     string        // where it runs
	Limit   time.Duration // then it is ended; 0 lets it end by itself
}

// Loaded is the result of a load.
type Loaded struct {
	Output []byte // the end of what it printed, at most 512 KiB
	Failed error  // why it failed, if it ended by itself
}

// Start starts the load. The Tail keeps the end of its output.
func (l Load) Start() (*Process, *Tail, error) {
	out := &Tail{Most: loadTail}
	cmd := Shell(l.Command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.Dir, out, out
	p, err := Start(cmd, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("start the load: %w", err)
	}
	return p, out, nil
}

// Under runs the load on p until it ends by itself or its limit has passed. The error
// is ErrEnded when p ended first, or that of ctx. What the load printed until then is
// returned even with an error.
func (p *Process) Under(ctx context.Context, l Load) (Loaded, error) {
	load, out, err := l.Start()
	if err != nil {
		return Loaded{}, err
	}
	var late <-chan time.Time
	if l.Limit > 0 {
		timer := time.NewTimer(l.Limit)
		defer timer.Stop()
		late = timer.C
	}
	cut := true
	select {
	case <-load.Done:
		cut = false
	case <-late:
	case <-ctx.Done():
		err = ctx.Err()
	case <-p.Done:
		err = ErrEnded
	}
	load.End(EndGrace)
	left := Loaded{Output: out.Bytes()}
	if !cut {
		left.Failed = load.Failure()
	}
	return left, err
}

// AwaitReady waits until url answers, or for Settle if url is "".
func (p *Process) AwaitReady(ctx context.Context, url string) error {
	if url != "" {
		return p.Await(ctx, url, readyTimeout)
	}
	begin := time.Now().Add(Settle)
	return p.WaitFor(ctx, Settle/10, func() bool { return time.Now().After(begin) })
}
