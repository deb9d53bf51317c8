package latency

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/ctxio"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// Trace is what an execution trace says of the collector and of the goroutines
// that it delayed.
type Trace struct {
	File    string
	Summary *exectrace.Summary
	Delayed *Report // nil where only the summary was asked for
	Problem string  // what is wrong with the file; the rest is of what comes before
}

// ReadOptions tunes Read. The zero value is ready to use.
type ReadOptions struct {
	Own         []string // import paths of the user's own code
	SummaryOnly bool     // skip goroutines, which takes a tenth of the time
	Progress    func(format string, args ...any)
}

// Read reads the trace in r, which is called name, twice: fast for what the
// collector did, and in order for the delayed goroutines. With an error it
// returns what there is, or nil. With SummaryOnly r need not seek.
func Read(ctx context.Context, name string, r io.Reader, o ReadOptions) (*Trace, error) {
	say := o.Progress
	if say == nil {
		say = func(string, ...any) {}
	}
	say("reading what the collector did")
	s, err := exectrace.Scan(ctxio.Reader(ctx, r), exectrace.Options{})
	if s == nil || ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &Trace{File: name, Summary: s}
	if !o.SummaryOnly {
		again, ok := r.(io.Seeker)
		if !ok {
			return nil, fmt.Errorf("%s: delays need a file that can be read twice", name)
		}
		if _, err := again.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		var orderErr error
		t.Delayed, orderErr = Analyze(ctxio.Reader(ctx, r), Options{Own: o.Own, Delays: true, Progress: func(at time.Duration) {
			say("reading who paid: %v of %v", at.Round(time.Second), s.Length.Round(time.Second))
		}})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			err = orderErr
		}
	}
	if err != nil {
		t.Problem = err.Error()
		err = fmt.Errorf("%s: %w", name, err)
	}
	return t, err
}
