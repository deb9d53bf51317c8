package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/heaptrim/heaptrim/internal/evidence"
)

// trace takes an execution trace when all other windows are over: it disturbs
// them, and they would be in it. Without anything recorded before there is none.
func (r *liveRecorder) trace(ctx context.Context) {
	if r.o.Trace <= 0 || ctx.Err() != nil || r.parts() == 0 {
		return
	}
	r.o.Progress("tracing %s for %v", r.server, r.o.Trace)
	p := evidence.Part{Path: "trace/trace.out", Kind: evidence.KindTrace, Pass: passTrace, Wall: r.o.Trace}
	name, err := r.w.Unfinished(p)
	if err == nil {
		q := query{path: "trace", args: fmt.Sprintf("seconds=%g", r.o.Trace.Seconds()), takes: r.o.Trace}
		err = r.download(ctx, q, name)
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

// isTrace looks at the first bytes of a file, as far as they are needed to tell
// an execution trace.
func isTrace(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len("go 1.22 trace"))
	if _, err := io.ReadFull(f, head); err != nil || string(head[:3]) != "go " || string(head[len(head)-6:]) != " trace" {
		return fmt.Errorf("did not answer with an execution trace but with %q", head)
	}
	return nil
}
