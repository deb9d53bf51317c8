package latency

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/heaptrim/heaptrim/internal/ctxio"
	"github.com/heaptrim/heaptrim/internal/ingest/exectrace"
)

// Trace is what an execution trace shows about the collector and the goroutines that
// it delayed.
type Trace struct {
	File    string
	Summary *exectrace.Summary
	Delayed *Report // nil if only the summary was requested
	Problem string  // what is wrong with the file; the results cover the part before
}

// ReadOptions tunes Read. The zero value is ready to use.
type ReadOptions struct {
	Own         []string // import paths of the user's own code
	SummaryOnly bool     // skip goroutines, which take most of the time
	Progress    func(format string, args ...any)
}

// Read reads the trace in r twice: fast for the collector's work, and in order for the
// delayed goroutines. name is used in errors. With an error it returns what was read
// before, or nil. With SummaryOnly r need not be an io.Seeker.
func Read(ctx context.Context, name string, r io.Reader, o ReadOptions) (*Trace, error) {
	say := o.Progress
	if say == nil {
		say = func(string, ...any) {}
	}
	say("reading the collector's work")
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
			say("reading the delayed goroutines: %v of %v", at.Round(time.Second), s.Length.Round(time.Second))
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
