// Package command records a command. It builds the command with a recorder added by go
// build -overlay, which does not change the source on disk, and runs it under a load
// or until it ends. Under a load, a second run has no profile, and a third one samples
// allocations at a fine rate.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/after"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
	"github.com/heaptrim/heaptrim/internal/record/secret"
)

// Options says which command to record and under what load.
type Options struct {
	Dir        string        // directory of the go command and of the program; "" is the current one
	Package    string        // main package: a pattern such as ./cmd/server, an import path, or path@version
	Args       []string      // of the program
	BuildFlags []string      // for the go command, such as -tags=x
	Ready      string        // URL that answers once the program is ready; "" does not wait
	Load       string        // shell command that drives the program; the window lasts as long as it runs
	For        time.Duration // greatest length of the window; 0 means until the load or the program ends
	// bytes per heap sample in the allocation pass; 0 chooses it from the program's
	// allocation rate
	MemRate  int64
	Trace    time.Duration // length of an execution trace that follows the window; 0 takes none
	Requests bool          // with Trace: make each net/http request a trace task; net/http is then rebuilt
	CacheDir string        // for copies of modules that are not the user's; "" is heaptrim in the user's cache
	Stdin    io.Reader     // of the program; nil reads nothing
	Stdout   io.Writer     // of the program; nil discards it
	Stderr   io.Writer     // of the program, without the lines of gctrace; nil discards it
	Progress func(format string, args ...any)
}

// answerWithin limits the wait for the recorder, which takes a heap snapshot before it
// answers.
const answerWithin = 30 * time.Second

// Record builds a command with the recorder added, runs it and records a window into
// w: while the load runs, or for a given time, or until the program ends. With neither
// Ready nor Load the window begins with the program.
//
// With a load there is a second, shorter run that samples allocations at a fine rate.
// It is separate because that sampling would disturb the times of the first. The
// execution trace has a window of its own, after the first and in the same process,
// while the load runs a second time or the program goes on otherwise. A program that
// is recorded to its end has no trace window.
//
// When ctx ends, Record closes the window, keeps what is recorded, ends the program
// and returns ctx's error. It interrupts the program first and kills it if that does
// not end it.
func Record(ctx context.Context, o Options, w *bundle.Writer) error {
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	tmp, err := os.MkdirTemp("", "heaptrim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	r := &execRecorder{o: o, w: w, tmp: tmp}
	if err := r.build(ctx); err != nil {
		return err
	}
	for _, l := range r.meant() {
		if err := r.lack(l, errUnfinished); err != nil {
			return err
		}
	}
	r.run = w.Run(evidence.Run{Name: "service", Package: r.target.pkg.ImportPath})
	timing, err := r.record(ctx, execPass{name: evidence.PassTiming, log: true, trace: o.Trace,
		options: recorder.Options{CPU: true, GCAtExit: true}})
	if errors.Is(err, process.ErrEnded) {
		return fmt.Errorf("%s: %w %w", o.Package, ErrProgramFailed, err)
	}
	if err != nil {
		return err
	}
	if err := after.Code(ctx, w, func(evidence.Run) string { return r.binary }); err != nil {
		return err
	}
	if o.Load != "" {
		if err = r.unprofiledRun(ctx, timing); err == nil && ctx.Err() == nil {
			err = r.allocations(ctx, timing)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := after.CacheMisses(ctx, w, timing.files.Wall, o.Progress); err != nil {
		return err
	}
	if o.Load == "" && r.failed != nil && timing.files.CPU < leastUse {
		return fmt.Errorf("%s: the program ended with %w before anything could be measured", o.Package, r.failed)
	}
	if o.Load == "" && r.failed != nil {
		return fmt.Errorf("%s: %w: %w", o.Package, ErrProgramFailed, r.failed)
	}
	return nil
}

// leastUse is less CPU time than gives any figure: five samples of a CPU profile.
const leastUse = 50 * time.Millisecond

// ErrProgramFailed means that the recorded program failed by itself. The bundle holds
// what was recorded until then: some programs, such as linters, always exit like that
// when they find something.
var ErrProgramFailed = errors.New("the recorded program failed")

// execRecorder records one command.
type execRecorder struct {
	o      Options
	files  map[string][]byte // content of source files by absolute name, in place of what is on disk
	w      *bundle.Writer
	tmp    string
	target execTarget
	binary string
	run    int
	failed error // the program's own failure, if it ended by itself
}

// execPass is one run of the program.
type execPass struct {
	name    string
	log     bool          // keep gctrace and the load's output
	limit   time.Duration // interrupts the load after that; 0: never
	trace   time.Duration // length of the trace window that follows; 0: none
	options recorder.Options
}

// recordedPass is what a pass measured.
type recordedPass struct {
	files     recorder.Result
	load      loadResult
	allocRate float64 // bytes/s, 0 if unknown
	allocated allocated
}

// fineRun is the gap of a recording under load whose second run is not done.
func fineRun() evidence.Gap {
	return evidence.Gap{Code: evidence.GapFineRun, What: "the run that samples allocations finely",
		Adds: "sites that the first run sampled rarely or never, and closer bounds for the others"}
}

// traceRun is the gap of a recording whose execution trace is not yet kept.
func traceRun() evidence.Gap {
	return evidence.Gap{Code: evidence.GapTrace, What: "the execution trace",
		Adds: "the goroutines that the collector delayed, and the lines that allocated meanwhile"}
}

// meant returns the gaps that later runs and windows will fill.
func (r *execRecorder) meant() []evidence.Gap {
	var out []evidence.Gap
	if r.o.Load != "" {
		out = append(out, fineRun())
	}
	if r.o.driven() {
		out = append(out, unprofiled())
	}
	if r.o.Trace > 0 && r.o.driven() {
		out = append(out, traceRun())
	}
	return out
}

var errUnfinished = errors.New("the recording ended before it was done")

// lack records that l is missing because of why, replacing an earlier entry. A nil why
// removes the entry.
func (r *execRecorder) lack(l evidence.Gap, why error) error {
	return r.w.Update(func(m *evidence.Manifest) {
		m.Gaps = slices.DeleteFunc(m.Gaps, func(x evidence.Gap) bool { return x.Code == l.Code })
		if why != nil {
			m.Gaps = append(m.Gaps, evidence.Gap{Code: l.Code, What: fmt.Sprintf("%s: %v", l.What, why),
				Adds: l.Adds})
		}
	})
}

// allocations repeats the run with a fine sampling rate, under load for half as long.
// A failure of the run is recorded as a gap, not returned.
func (r *execRecorder) allocations(ctx context.Context, timing recordedPass) error {
	rate := r.o.MemRate
	if rate <= 0 {
		rate = fineRate(timing.allocRate)
	}
	kept, err := r.record(ctx, execPass{
		name:    evidence.PassAllocation,
		limit:   max(timing.files.Wall/2, 5*time.Second),
		options: recorder.Options{MemRate: rate, GC: true},
	})
	if ctx.Err() != nil {
		err = nil
		if len(kept.files.Files.Heap) == 0 {
			err = errUnfinished
		}
	}
	return r.lack(fineRun(), err)
}

// fineRate returns the sampling rate in bytes per sample, a power of two, that gives
// up to 20,000 samples a second. At about 2 µs each that costs a few percent of one
// core.
func fineRate(allocRate float64) int64 {
	const samplesPerSecond, finest, coarsest = 20_000, 1 << 10, 512 << 10
	if allocRate == 0 {
		return 16 << 10
	}
	rate := int64(finest)
	for rate < coarsest && allocRate/float64(rate) > samplesPerSecond {
		rate *= 2
	}
	return rate
}

// record runs the program once and keeps what its recorder wrote.
func (r *execRecorder) record(ctx context.Context, p execPass) (recordedPass, error) {
	s, err := r.start(p)
	if err != nil {
		return recordedPass{}, err
	}
	err = s.window(ctx)
	var traceErr, aloneErr error
	if err == nil {
		aloneErr = s.unprofiledWindow(ctx)
		traceErr = s.traceWindow(ctx)
	}
	s.close()
	kept, keepErr := r.keep(s)
	if aloneErr != nil && ctx.Err() == nil {
		keepErr = errors.Join(keepErr, r.lack(unprofiled(), aloneErr))
	}
	switch {
	case ctx.Err() != nil:
		return kept, ctx.Err()
	case err != nil:
		return kept, err
	case traceErr != nil:
		keepErr = errors.Join(keepErr, r.lack(traceRun(), traceErr))
	}
	return kept, keepErr
}

func (r *execRecorder) warn(format string, args ...any) error {
	return r.w.Update(func(m *evidence.Manifest) {
		m.Warnings = append(m.Warnings, fmt.Sprintf(format, args...))
	})
}

// build adds the recorder to the command and describes the target.
func (r *execRecorder) build(ctx context.Context) error {
	var err error
	if r.target, err = r.resolve(ctx); err != nil {
		return err
	}
	p := r.target.pkg
	r.o.Progress("building %s with the recorder", p.ImportPath)
	also, err := r.changed()
	if err != nil {
		return err
	}
	if r.o.Trace > 0 && r.o.Requests {
		requests, err := requestOverlay(ctx, r.tmp, r.target.tool)
		if err != nil {
			return err
		}
		maps.Copy(also, requests)
	}
	overlay, notes, err := commandOverlay(r.tmp, p, also)
	if err != nil {
		return err
	}
	r.binary = filepath.Join(r.tmp, commandName(p.ImportPath))
	if _, err := r.target.tool.Output(ctx, "build", "-overlay", overlay, "-o", r.binary, p.ImportPath); err != nil {
		return err
	}
	if r.o.Dir != "" {
		if r.o.Dir, err = filepath.Abs(r.o.Dir); err != nil {
			return err
		}
	}
	return r.describe(ctx, notes)
}

// changed writes the files of a change, and returns where, by their names.
func (r *execRecorder) changed() (map[string]string, error) {
	out := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(r.files)) {
		at := filepath.Join(r.tmp, fmt.Sprintf("changed-%d.go", i))
		if err := os.WriteFile(at, r.files[name], 0o600); err != nil {
			return nil, err
		}
		out[name] = at
	}
	return out, nil
}

// describe records target and toolchain; the program itself reports the rest of the
// environment.
func (r *execRecorder) describe(ctx context.Context, notes []string) error {
	t := r.target.evidence
	t.Kind, t.Args = evidence.TargetExec, secret.Args(append([]string{r.o.Package}, r.o.Args...))
	t.Packages, t.BuildFlags = []string{r.target.pkg.ImportPath}, r.target.tool.Flags
	deps := map[string]bool{}
	for _, d := range gocmd.BinaryModules(r.binary) {
		deps[d] = true
	}
	t.Dependencies = gocmd.WithoutOwn(slices.Sorted(maps.Keys(deps)), t)
	var err error
	if t.Sources, err = gocmd.HashSources(ctx, r.target.tool, t.Packages, t.ModuleDir); err != nil {
		return err
	}
	env, err := r.target.tool.Settings(ctx, "GOROOT", "GOVERSION", "GOEXPERIMENT")
	if err != nil {
		return err
	}
	return r.w.Update(func(m *evidence.Manifest) {
		m.Target = t
		m.Environment.GOROOT, m.Environment.GoVersion, m.Environment.Experiment = env["GOROOT"], env["GOVERSION"],
			env["GOEXPERIMENT"]
		m.Warnings = append(m.Warnings, notes...)
	})
}

// errNothing means that the program ran but recorded nothing.
var errNothing = errors.New("nothing was recorded")
