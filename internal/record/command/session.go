package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/ingest/loadlog"
	"github.com/heaptrim/heaptrim/internal/record/host"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
	"github.com/heaptrim/heaptrim/internal/record/secret"
)

// execSession is the program running with its recorder.
type execSession struct {
	o    Options
	pass execPass
	dir  string // the recorder's
	auto bool   // the window begins with the program

	proc   *process.Process
	said   *process.Tail // the program's own stderr
	stderr *endable
	log    *windowLog
	load   loadResult
	peak   int64 // largest resident set until the window ended
}

// loadResult is what the load command did.
type loadResult struct {
	output   []byte
	requests int64 // 0 when not known
}

// start starts the program.
func (r *execRecorder) start(p execPass) (*execSession, error) {
	s := &execSession{o: r.o, pass: p, dir: filepath.Join(r.tmp, "rec-"+p.name), auto: r.o.Ready == "" &&
		r.o.Load == ""}
	if err := os.Mkdir(s.dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(r.tmp, p.name+"-gctrace.txt"))
	if err != nil {
		return nil, err
	}
	debug := os.Getenv("GODEBUG")
	if p.log {
		debug = host.JoinDebug(debug, "gctrace=1,gcpacertrace=1")
	}
	options := p.options
	options.Auto, options.GODEBUG = s.auto, debug
	s.log = &windowLog{file: f, open: s.auto}
	s.said = &process.Tail{Next: r.o.Stderr}
	s.stderr = &endable{to: gctrace.NewSplitter(s.log, s.said)}
	cmd := exec.Command(r.binary, r.o.Args...)
	cmd.Dir = r.o.Dir
	cmd.Env = append(append(os.Environ(), "GODEBUG="+debug), recorder.Env(s.dir, options)...)
	cmd.Stdin, cmd.Stdout = r.o.Stdin, r.o.Stdout
	if s.proc, err = process.Start(cmd, s.stderr); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", r.o.Package, err), f.Close())
	}
	return s, nil
}

// window records the window. An error says why there is none, or that the
// load failed; when ctx ends, the window is closed in order.
func (s *execSession) window(ctx context.Context) error {
	if !s.auto {
		if err := s.open(ctx); err != nil {
			return err
		}
	}
	what := "until it ends; interrupt to end it earlier"
	switch {
	case s.o.Load != "":
		what = "under load: " + s.o.Load
	case s.o.For > 0:
		what = "for " + s.o.For.String()
	}
	s.o.Progress("%s pass: recording process %d %s", s.pass.name, s.proc.Cmd.Process.Pid, what)
	var err error
	if s.o.Load != "" {
		err = s.underLoad(ctx)
	} else {
		s.idle(ctx)
	}
	s.peak = s.proc.PeakRSS()
	if s.proc.Running() {
		// The log ends with the window; if the program ended by itself, it is complete.
		s.log.gate(false)
		err = errors.Join(err, s.stop())
	}
	return err
}

// open waits until the program is ready and begins the window.
func (s *execSession) open(ctx context.Context) error {
	if err := s.awaitReady(ctx); err != nil {
		if !s.proc.Running() {
			err = process.ErrEnded
		}
		return fmt.Errorf("before the window: %w%s", err, s.lastWords())
	}
	// The recorder looks at its metrics first; the log may begin a little early.
	s.log.gate(true)
	starting, cancel := s.whileRunning(ctx)
	defer cancel()
	if err := recorder.Start(starting, s.dir, s.pass.options); err != nil {
		return fmt.Errorf("%w%s", err, s.lastWords())
	}
	return nil
}

func (s *execSession) awaitReady(ctx context.Context) error {
	claim, cancel := context.WithTimeoutCause(ctx, answerWithin, recorder.ErrNoRecorder)
	defer cancel()
	if err := s.proc.WaitFor(claim, 20*time.Millisecond, func() bool { return recorder.Claimed(s.dir) }); err != nil {
		return err
	}
	if s.o.Ready == "" {
		s.o.Progress("no ready URL: the load begins in %v", process.Settle)
	} else {
		s.o.Progress("waiting for %s", s.o.Ready)
	}
	return s.proc.AwaitReady(ctx, s.o.Ready)
}

// idle lets the window last while someone else drives the program.
func (s *execSession) idle(ctx context.Context) {
	if s.o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.o.For)
		defer cancel()
	}
	s.proc.Watch(ctx)
}

// underLoad runs the load command to its end, or until the pass is long
// enough.
func (s *execSession) underLoad(ctx context.Context) error {
	limit := s.pass.limit
	if s.o.For > 0 && (limit == 0 || s.o.For < limit) {
		limit = s.o.For
	}
	left, err := s.proc.Under(ctx, s.loadFor(limit))
	switch {
	case ctx.Err() != nil:
		err = nil // the window is closed in order
	case errors.Is(err, process.ErrEnded):
		err = fmt.Errorf("under load: %w: %w%s", err, orderly(s.proc.Failure()), s.lastWords())
	}
	s.load = loadResult{left.Output, loadlog.Requests(left.Output)}
	if left.Failed != nil && s.load.requests == 0 {
		err = errors.Join(err, fmt.Errorf("the load command %q: %w\n%s", secret.Line(s.o.Load), left.Failed,
			gocmd.LastLines(string(left.Output), 10)))
	}
	return err
}

// loadFor is the load with a limit to its time; 0 is none.
func (s *execSession) loadFor(limit time.Duration) process.Load {
	return process.Load{Command: s.o.Load, Dir: s.o.Dir, Limit: limit}
}

// orderly makes a failure out of an orderly end.
func orderly(err error) error {
	if err == nil {
		return errors.New("exit status 0")
	}
	return err
}

// stop ends the window.
func (s *execSession) stop() error {
	stopping, cancel := s.whileRunning(context.Background())
	defer cancel()
	err := recorder.Stop(stopping, s.dir)
	if err != nil && !s.proc.Running() {
		return nil // it ended meanwhile and left what was complete
	}
	return err
}

// whileRunning bounds waiting for the recorder: it does not answer when the
// program has ended.
func (s *execSession) whileRunning(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	go func() {
		select {
		case <-s.proc.Done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// close ends the program and completes the log.
func (s *execSession) close() {
	s.proc.End(process.EndGrace)
	s.stderr.Close()
	s.log.file.Close()
}

// endable is a splitter that may still be written to after it is closed, by
// what is left of the program. It is safe for concurrent use.
type endable struct {
	mu sync.Mutex
	to *gctrace.Splitter // nil: closed
}

func (e *endable) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.to == nil {
		return 0, os.ErrClosed
	}
	return e.to.Write(p)
}

func (e *endable) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.to == nil {
		return nil
	}
	err := e.to.Close()
	e.to = nil
	return err
}

// lastWords is what the program last said, for an error.
func (s *execSession) lastWords() string {
	if text := s.said.String(); text != "" {
		return "\nits last words:\n" + text
	}
	return ""
}

// windowLog writes the lines that begin while it is open. It is safe for
// concurrent use.
type windowLog struct {
	mu      sync.Mutex
	file    *os.File
	open    bool
	midLine bool // a line has begun
	keep    bool // and is written
}

func (l *windowLog) gate(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = open
}

func (l *windowLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		line := p
		if i := bytes.IndexByte(p, '\n'); i >= 0 {
			line = p[:i+1]
		}
		p = p[len(line):]
		if !l.midLine {
			l.keep = l.open
		}
		l.midLine = line[len(line)-1] != '\n'
		if l.keep {
			if _, err := l.file.Write(line); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}
