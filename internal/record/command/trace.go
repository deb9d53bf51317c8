package command

import (
	"context"
	"fmt"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
	"github.com/heaptrim/heaptrim/internal/record/secret"
)

// maxTrace ends a trace window early. The busiest programs write about 30 MB/s of
// trace, and a bundle accepts files up to 4 GiB.
const maxTrace = 512 << 20

// driven reports whether the window ends by itself, neither by the user nor by the end
// of the program.
func (o Options) driven() bool { return o.Load != "" || o.For > 0 }

// traceWindow takes an execution trace after the window, in the same process: its heap
// is already filled by the load. It fails if a requested trace cannot be taken.
func (s *execSession) traceWindow(ctx context.Context) error {
	if s.pass.trace <= 0 || !s.o.driven() || !s.proc.Running() || ctx.Err() != nil {
		return nil
	}
	var loaded <-chan struct{} // closed when the load has ended
	if s.o.Load != "" {
		load, out, err := s.loadFor(0).Start()
		if err != nil {
			return err
		}
		defer load.End(process.EndGrace)
		loaded = load.Done
		if err := s.warm(ctx, load); err != nil {
			return fmt.Errorf("the second call of the load %q: %w\n%s", secret.Line(s.o.Load), err, out)
		}
	}
	starting, cancel := s.whileRunning(ctx)
	defer cancel()
	s.o.Progress("tracing process %d for %v", s.proc.Cmd.Process.Pid, s.pass.trace)
	err := recorder.Start(starting, s.dir, traceOptions())
	if err != nil {
		return fmt.Errorf("%w%s", err, s.lastWords())
	}
	timer := time.NewTimer(s.pass.trace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-loaded:
	case <-s.proc.Done:
	case <-ctx.Done():
	}
	return s.stop()
}

// traceOptions are the options of a trace window. The CPU profile is on only because
// its samples also appear in the trace; the profile itself is not kept.
func traceOptions() recorder.Options {
	return recorder.Options{Trace: maxTrace, CPU: true, HeapSnap: -1, Metrics: -1}
}

// warm gives a load time to connect. It fails if the load ends before that.
func (s *execSession) warm(ctx context.Context, load *process.Process) error {
	timer := time.NewTimer(process.Settle)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-load.Done:
		return fmt.Errorf("it ended within %v: %w", process.Settle, orderly(load.Failure()))
	case <-s.proc.Done:
		return process.ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// trace keeps the execution trace of the window that f lists.
func (k keeper) trace(f recorder.Result) error {
	if f.Files.Trace == "" {
		return nil
	}
	p := evidence.Part{Path: "trace/trace.out", Kind: evidence.KindTrace, Pass: evidence.PassTrace, Wall: f.Wall,
		CPU: f.CPU}
	if err := k.w.Adopt(k.run, p, f.Files.Trace); err != nil {
		return err
	}
	return k.lack(traceRun(), nil)
}
