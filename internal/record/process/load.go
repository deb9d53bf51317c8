package process

import (
	"context"
	"fmt"
	"time"
)

// Settle is how long a program that names no ready URL is given before its load begins.
const Settle = time.Second

// EndGrace is how long a program, and a load, may take to end in order.
const EndGrace = 10 * time.Second

// readyTimeout is long, since building an index can take a while.
const readyTimeout = 2 * time.Minute

// loadTail is what is kept of a load's output. Its summary stands at the end.
const loadTail = 512 << 10

// Load is a command that drives a program.
type Load struct {
	Command string        // a line for the user's shell
	Dir     string        // it runs there
	Limit   time.Duration // it is ended after that; 0 lets it end by itself
}

// Loaded is what a load left behind.
type Loaded struct {
	Output []byte // the end of what it printed, at most 512 KiB
	Failed error  // how it ended, where that was by itself and not well
}

// Start starts the load and returns what it prints as well.
func (l Load) Start() (*Process, *Tail, error) {
	out := &Tail{Most: loadTail}
	cmd := shell(l.Command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = l.Dir, out, out
	p, err := Start(cmd, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("start the load: %w", err)
	}
	return p, out, nil
}

// Under runs the load on p until it ends by itself or its limit has passed.
// The error is ErrEnded when p ended before, or that of ctx; what the load left
// until then is returned all the same.
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

// AwaitReady waits until url answers, or for Settle where url is "".
func (p *Process) AwaitReady(ctx context.Context, url string) error {
	if url != "" {
		return p.Await(ctx, url, readyTimeout)
	}
	begin := time.Now().Add(Settle)
	return p.WaitFor(ctx, Settle/10, func() bool { return time.Now().After(begin) })
}
