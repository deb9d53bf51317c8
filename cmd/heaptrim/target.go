package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/arguments"
	"github.com/heaptrim/heaptrim/internal/record/bench"
	"github.com/heaptrim/heaptrim/internal/record/command"
	"github.com/heaptrim/heaptrim/internal/record/files"
	"github.com/heaptrim/heaptrim/internal/record/host"
	"github.com/heaptrim/heaptrim/internal/record/live"
)

// targetFlags are the flags that say what to record, shared by check and
// record.
type targetFlags struct {
	dir       string
	bench     string
	benchTime gocmd.BenchTime
	count     int
	budget    time.Duration
	tags      string
	exec      string
	ready     string
	load      string
	window    time.Duration
	trace     time.Duration
	also      struct{ forceGC, requests, lean bool } // lean: record allocations of more benchmarks in budget
	out       string
	flags     *flag.FlagSet
	collector bool // no flag: record the collector alone where the target allows it
}

func (t *targetFlags) register(fs *flag.FlagSet) {
	t.flags = fs
	fs.StringVar(&t.dir, "C", "", "run in `dir`ectory")
	fs.StringVar(&t.bench, "bench", "", "record the benchmarks that match `regexp`; default: as many as fit -budget")
	fs.Var(&t.benchTime, "benchtime", "`length` of one timing pass, such as 300ms or 2000x; default: 1.5s with -bench, else chosen from -budget")
	fs.IntVar(&t.count, "count", 1, "repeat each pass `n` times")
	fs.DurationVar(&t.budget, "budget", time.Minute, "time for building and recording all benchmarks when -bench is not given; at least half is for recording, "+
		"and the report comes on top")
	fs.StringVar(&t.tags, "tags", "", "build `tags`, comma-separated")
	fs.StringVar(&t.exec, "exec", "", "build and record this main `package` (./cmd/server, or module/cmd@version); its arguments follow --")
	fs.StringVar(&t.ready, "ready", "", "with -exec: wait until a GET of this `URL` answers before the load starts")
	fs.StringVar(&t.load, "load", "", "with -exec: shell `command` that loads the program; recording ends with it")
	fs.DurationVar(&t.window, "for", 0, "length of the recorded window of -exec or a URL; default: until the load or the program ends, 30s for a URL")
	fs.BoolVar(&t.also.forceGC, "gc", false, "with a URL: ask the service for a collection before each heap profile")
	fs.DurationVar(&t.trace, "trace", 5*time.Second, "`length` of an execution trace after the window of a URL, or of -exec with -load or -for; 0: none")
	fs.BoolVar(&t.also.requests, "trace-requests", false, "with -exec: make each request to net/http a task of the "+
		"trace; builds net/http again")
	fs.StringVar(&t.out, "o", "", "keep the recording as `bundle`: a directory, or a file that ends in .tar.zst")
}

// validate looks at what the flags ask of a recording.
func (t *targetFlags) validate() error {
	switch {
	case t.trace < 0 || t.also.requests && t.trace == 0:
		return usagef("-trace cannot be negative, and with -trace-requests not 0")
	case t.window < 0:
		return usagef("-for cannot be negative")
	case t.budget <= 0:
		return usagef("-budget must be positive")
	case t.count < 1:
		return usagef("-count must be positive")
	}
	return nil
}

// kind of target that the flags and arguments name.
func (t *targetFlags) kind(args []string) (string, error) {
	if t.exec != "" {
		return evidence.TargetExec, nil
	}
	if t.ready != "" || t.load != "" || t.also.requests {
		return "", usagef("-trace-requests, -ready and -load need -exec")
	}
	return misused(arguments.Kind(args, t.path))
}

// fits looks for flags that are given and that recording a target of a kind would ignore.
func (t *targetFlags) fits(kind string) error {
	given := map[string]string{}
	if t.flags != nil {
		t.flags.Visit(func(f *flag.Flag) { given[f.Name] = f.Value.String() })
	}
	_, err := misused("", arguments.Fit(kind, given))
	return err
}

// misused makes an error of wrong usage of what package arguments finds.
func misused(kind string, err error) (string, error) {
	var m arguments.Misuse
	if errors.As(err, &m) {
		return "", usagef("%v", m)
	}
	return kind, err
}

func (t *targetFlags) path(a string) string {
	if t.dir == "" || filepath.IsAbs(a) {
		return a
	}
	return filepath.Join(t.dir, a)
}

// recorded is a recording on disk, opened.
type recorded struct {
	*bundle.Bundle
	cut   error // the recording was cut short by an interrupt, or the program failed
	temps []string
}

// Close removes what was made for this call only.
func (r *recorded) Close() {
	if r.Bundle != nil {
		r.Bundle.Close()
	}
	for _, d := range r.temps {
		os.RemoveAll(d)
	}
}

// record makes the recording that the flags and arguments name and opens it.
// A single bundle as argument is opened as it is.
func (t *targetFlags) record(ctx context.Context, args []string, p *progress) (*recorded, error) {
	kind, err := t.kind(args)
	if err == nil {
		err = t.fits(kind)
	}
	if err != nil {
		return nil, err
	}
	if kind == evidence.TargetFiles && len(args) == 1 && arguments.IsBundle(t.path(args[0])) && t.out == "" {
		b, err := bundle.Open(t.path(args[0]))
		if err != nil {
			return nil, err
		}
		return &recorded{Bundle: b}, nil
	}
	if text := t.coming(kind); text != "" {
		p.Announce(text)
	}
	r := &recorded{}
	dir, err := t.workDir(r)
	if err != nil {
		return nil, err
	}
	err = t.fill(ctx, fillArgs{kind, args, dir, p, p.Writer()})
	if err != nil && !opens(err) {
		r.Close()
		return nil, err
	}
	r.cut = err
	if strings.HasSuffix(t.out, arguments.ArchiveSuffix) {
		if err := bundle.Pack(dir, t.out); err != nil {
			r.Close()
			return nil, err
		}
	}
	if r.Bundle, err = bundle.Open(dir); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// coming says what a recording will do and how long it takes.
func (t *targetFlags) coming(kind string) string {
	switch {
	case kind == evidence.TargetPackages && t.bench != "":
		return "building and recording the benchmarks that match " + t.bench
	case kind == evidence.TargetPackages:
		return fmt.Sprintf("building and recording benchmarks, up to %v for all (-budget)", t.budget.Round(time.Second/10))
	case kind == evidence.TargetLive:
		return fmt.Sprintf("recording the service for %v (-for), and some seconds more", cmp.Or(t.window, 30*time.Second))
	case kind == evidence.TargetExec && t.load != "":
		return "building and recording " + t.exec + "; the load runs several times"
	case kind == evidence.TargetExec && t.window == 0:
		return "building and recording " + t.exec + " until it ends"
	case kind == evidence.TargetExec:
		return fmt.Sprintf("building and recording %s for %v (-for), and some seconds more", t.exec, t.window)
	}
	return ""
}

// opens reports whether a recording that ended with err is worth a look.
func opens(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, command.ErrProgramFailed)
}

// workDir is the directory that the bundle grows in.
func (t *targetFlags) workDir(r *recorded) (string, error) {
	if t.out != "" && !strings.HasSuffix(t.out, arguments.ArchiveSuffix) {
		return t.out, nil
	}
	tmp, err := os.MkdirTemp("", "heaptrim-")
	if err != nil {
		return "", err
	}
	r.temps = append(r.temps, tmp)
	return filepath.Join(tmp, "bundle"), nil
}

// errNothing means that a recording was ended, or ended by itself, too early.
var errNothing = errors.New("the recording ended before anything was measured")

type fillArgs struct {
	kind string
	args []string
	dir  string
	p    *progress
	err  io.Writer // for what the recorded program prints: the report has standard output for itself
}

// fill records into a new bundle.
func (t *targetFlags) fill(ctx context.Context, f fillArgs) error {
	m := evidence.Manifest{Tool: version(), Target: evidence.Target{Kind: f.kind}, Environment: host.Environment()}
	w, err := bundle.Create(f.dir, m)
	if err != nil {
		return err
	}
	defer w.Close(false)
	switch f.kind {
	case evidence.TargetExec:
		exec := command.Record
		if t.collector {
			exec = command.Collector
		}
		err = exec(ctx, command.Options{
			Dir: t.dir, Package: t.exec, Args: f.args, Ready: t.ready, Load: t.load, For: t.window,
			Trace: t.trace, Requests: t.also.requests,
			BuildFlags: t.buildFlags(), Stdout: f.err, Stderr: f.err, Progress: f.p.Printf,
		}, w)
		if errors.Is(err, context.Canceled) && t.load == "" && t.window == 0 {
			// The user drives the program, and an interrupt is how that ends.
			err = nil
		}
	case evidence.TargetLive:
		err = live.Record(ctx, live.Options{URL: f.args[0], For: t.window, Trace: t.trace, ForceGC: t.also.forceGC, Progress: f.p.Printf}, w)
	case evidence.TargetFiles:
		paths := make([]string, len(f.args))
		for i, a := range f.args {
			paths[i] = t.path(a)
		}
		err = files.Record(ctx, files.Options{Paths: paths, Progress: f.p.Printf}, w)
	default:
		err = bench.Record(ctx, bench.Options{
			Dir: t.dir, Patterns: f.args, Bench: t.bench, BenchTime: t.benchTime, Count: t.count, Budget: t.budget,
			BuildFlags: t.buildFlags(), Lean: t.also.lean, Progress: f.p.Printf,
		}, w)
		if err != nil && !opens(err) {
			err = arguments.WithBareFolder(err, f.args, t.path)
		}
	}
	if (err == nil || opens(err)) && !w.Measured() {
		err = errNothing
	}
	if err != nil {
		if !opens(err) {
			w.Discard() // what keeps it from going is no news beside err
		}
		return err
	}
	if err := w.Close(true); err != nil {
		return fmt.Errorf("close the bundle: %w", err)
	}
	return nil
}

func (t *targetFlags) buildFlags() []string {
	if t.tags == "" {
		return nil
	}
	return []string{"-tags=" + t.tags}
}
