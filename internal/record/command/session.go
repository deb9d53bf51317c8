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

// execSession is one run of the program with its recorder.
type execSession struct {
	o    Options
	pass execPass
	dir  string // the recorder's
	auto bool   // the window begins with the program

	proc   *process.Process
	said   *process.Tail // the program's own stderr
	stderr *endable
	log    *windowLog
	// The log goes to one file after the other.
	logFile, aloneFile string
	load               loadResult
	peak               int64 // largest resident set until the end of the window
}

// loadResult is the outcome of the load command.
type loadResult struct {
	output   []byte
	requests int64 // 0 if unknown
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
	s.log, s.logFile = &windowLog{file: f, open: s.auto}, f.Name()
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

// window records the window. It fails if there is no window or the load failed. When
// ctx ends, it closes the window normally.
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
		// The log ends with the window. If the program ended by itself, the log is complete
		// anyway.
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
	// The recorder reads its metrics first, so the log may begin a little before the window.
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

// idle lets the window last while something else drives the program.
func (s *execSession) idle(ctx context.Context) {
	if s.o.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.o.For)
		defer cancel()
	}
	s.proc.Watch(ctx)
}

// underLoad runs the load command until it ends or its time limit has passed.
func (s *execSession) underLoad(ctx context.Context) error {
	limit := s.pass.limit
	if s.o.For > 0 && (limit == 0 || s.o.For < limit) {
		limit = s.o.For
	}
	left, err := s.proc.Under(ctx, s.loadFor(limit))
	switch {
	case ctx.Err() != nil:
		err = nil // the window is closed normally
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

// loadFor returns the load with a time limit; 0 means none.
func (s *execSession) loadFor(limit time.Duration) process.Load {
	return process.Load{Command: s.o.Load, Dir: s.o.Dir, Limit: limit}
}

// orderly turns a nil error into the failure "exit status 0".
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
		return nil // the program ended meanwhile and left what was complete
	}
	return err
}

// whileRunning returns a context for waiting on the recorder. It ends when the program
// does, because then nothing answers any more.
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

// endable is a splitter that processes left over from the program may still write to
// after it is closed. It is safe for concurrent use.
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

// lastWords returns the end of the program's standard error, for error texts.
func (s *execSession) lastWords() string {
	if text := s.said.String(); text != "" {
		return "\nits last output:\n" + text
	}
	return ""
}

// windowLog writes the lines that begin while it is open. It is safe for concurrent
// use.
type windowLog struct {
	mu      sync.Mutex
	file    *os.File
	open    bool
	midLine bool // in the middle of a line
	keep    bool // that line is written
}

func (l *windowLog) gate(open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = open
}

// next lets the lines that begin from now on go to another file.
func (l *windowLog) next(f *os.File) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.file
	l.file, l.open, l.keep = f, true, false
	return was.Close()
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
