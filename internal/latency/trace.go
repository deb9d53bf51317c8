package latency

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
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

// Read reads the trace in r once. Where that fails, it reads r again for the collector's work in the part before the
// fault. Errors have the name. With an error, Read returns the results for the part before it, or nil. With SummaryOnly
// r need not be an io.Seeker.
func Read(ctx context.Context, name string, r io.Reader, o ReadOptions) (*Trace, error) {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	t := &Trace{File: name}
	var err error
	if o.SummaryOnly {
		o.Progress("reading the collector's work")
		t.Summary, err = exectrace.Scan(ctxio.Reader(ctx, r), exectrace.Options{})
	} else {
		err = t.readBoth(ctx, r, o)
	}
	if t.Summary == nil || ctx.Err() != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err != nil {
		t.Problem = err.Error()
		err = fmt.Errorf("%s: %w", name, err)
	}
	return t, err
}

// readBoth reads the delayed goroutines and, with them, the collector's work.
func (t *Trace) readBoth(ctx context.Context, r io.Reader, o ReadOptions) error {
	again, ok := r.(io.Seeker)
	if !ok {
		return errors.New("delays need a file that can be read twice")
	}
	size, err := again.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := again.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := &counted{Reader: r}
	a, kinds := newAccount(Options{Own: o.Own, Delays: true, Progress: func(at time.Duration) {
		o.Progress("reading the delayed goroutines: %v, %d %% of the file", at.Round(time.Second), 100*in.n.Load()/max(size, 1))
	}})
	t.Summary, err = exectrace.ScanEvents(ctxio.Reader(ctx, in), kinds, a.event)
	t.Delayed = a.finish()
	if t.Summary != nil || ctx.Err() != nil {
		return err
	}
	o.Progress("reading the collector's work")
	if _, err := again.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var scanErr error
	if t.Summary, scanErr = exectrace.Scan(ctxio.Reader(ctx, r), exectrace.Options{}); scanErr != nil {
		return scanErr
	}
	return err
}

// counted counts the bytes that are read. The count may be asked at any time.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}
