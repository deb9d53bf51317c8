package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// trace takes an execution trace after all other windows, so that they do not disturb
// each other. If nothing was recorded before, it does nothing.
func (r *liveRecorder) trace(ctx context.Context) {
	switch {
	case r.o.Trace <= 0 || ctx.Err() != nil || r.parts() == 0:
		return
	case r.server.stalled.Load():
		r.fail("execution trace", errStalled)
		return
	}
	r.o.Progress("tracing %s for %v", r.server, r.o.Trace)
	p := evidence.Part{Path: "trace/trace.out", Kind: evidence.KindTrace, Pass: evidence.PassTrace, Wall: r.o.Trace}
	name, err := r.w.Unfinished(p)
	if err == nil {
		stop := r.sampleMeanwhile(ctx)
		q := query{path: "trace", args: fmt.Sprintf("seconds=%g", r.o.Trace.Seconds()), takes: r.o.Trace}
		err = r.download(ctx, q, name)
		stop()
	}
	if err == nil {
		if err = isTrace(name); err != nil {
			err = fmt.Errorf("%s %w", r.server.show(query{path: "trace"}), err)
		}
	}
	if err != nil {
		err = errors.Join(err, removeIfThere(name))
	} else {
		err = r.w.Adopt(r.run, p, name)
	}
	r.note(ctx, "execution trace", err)
}

var errStalled = errors.New("the service did not answer the request before it")

// sampleMeanwhile makes the server take a CPU profile, because its samples also appear
// in the trace; the profile itself is not kept. The trace is valid without samples, so
// failures are not errors. The returned function cancels the profile and waits for its
// end.
func (r *liveRecorder) sampleMeanwhile(ctx context.Context) func() {
	ctx, giveUp := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		// The server accepts only whole seconds.
		q := query{path: "profile", args: fmt.Sprintf("seconds=%d", max(1, int(math.Ceil(r.o.Trace.Seconds())))),
			takes: r.o.Trace + time.Second}
		if err := r.server.get(ctx, q, io.Discard); err != nil && ctx.Err() == nil {
			r.o.Progress("no CPU profile while tracing: %v", err)
		}
	})
	return func() {
		giveUp()
		done.Wait()
	}
}

// isTrace checks by its first bytes whether a file is an execution trace.
func isTrace(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len("go 1.22 trace"))
	if _, err := io.ReadFull(f, head); err != nil || string(head[:3]) != "go " ||
		string(head[len(head)-6:]) != " trace" {
		return fmt.Errorf("did not answer with an execution trace but with %q", head)
	}
	return nil
}
