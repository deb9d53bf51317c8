// Package command records a command: it is built with a recorder in it, by
// go build -overlay, which leaves the source on disk alone, and runs under a load
// or until it ends. A second run samples allocations finely.
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
	Load       string        // shell command that loads the program; the window lasts as long as it runs
	For        time.Duration // length of the window at most; 0 means until the load or the program ends
	// bytes a heap sample in the allocation pass; 0 chooses it by the program's allocation rate
	MemRate  int64
	Trace    time.Duration // length of an execution trace that follows the window; 0 takes none
	Requests bool          // with Trace: make each request to net/http a task, for which net/http is built anew
	CacheDir string        // for copies of modules that are not the user's; "" is heaptrim in the user's cache
	Stdin    io.Reader     // of the program; nil reads nothing
	Stdout   io.Writer     // of the program; nil drops it
	Stderr   io.Writer     // of the program, without the lines of gctrace; nil drops it
	Progress func(format string, args ...any)
}

// answerWithin is for the recorder, which snapshots a heap profile first.
const answerWithin = 30 * time.Second

// Record builds a command with the recorder added, runs it and records a window
// into w: while the load runs, or for a time, or until the program ends. With
// neither Ready nor Load the window begins with the program. With a load there
// is a second, shorter run that samples allocations finely, apart from the
// first, whose times it would disturb. The execution trace has a window of its
// own too: after the first, in the same process, while a second call of the
// load lasts or whatever else drives the program goes on. There is none of a
// program that is recorded to its end.
//
// When ctx ends, Exec closes the window, keeps what is recorded, ends the
// program and returns ctx's error. The program is interrupted at the end and
// killed if it does not follow.
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
		err = r.allocations(ctx, timing)
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
	if o.Load == "" && r.failed != nil {
		return fmt.Errorf("%s: %w: %w", o.Package, ErrProgramFailed, r.failed)
	}
	return nil
}

// ErrProgramFailed says that the recorded program ended by itself and not with
// success. What was recorded until then is in the bundle: linters end so when
// they find something.
var ErrProgramFailed = errors.New("the recorded program failed")

// execRecorder records one command.
type execRecorder struct {
	o      Options
	w      *bundle.Writer
	tmp    string
	target execTarget
	binary string
	run    int
	failed error // how the program ended, where that was a failure of its own
}

// execPass is one run of the program.
type execPass struct {
	name    string
	log     bool          // keep gctrace and the load's output
	limit   time.Duration // interrupts the load; 0: never
	trace   time.Duration // of the window that follows; 0: none
	options recorder.Options
}

// recordedPass is what a pass measured.
type recordedPass struct {
	files     recorder.Result
	load      loadResult
	allocRate float64 // bytes/s, 0 when not known
}

// fineRun is what a recording under load lacks until its second run is done.
func fineRun() evidence.Gap {
	return evidence.Gap{Code: evidence.GapFineRun, What: "the run that samples allocations finely",
		Adds: "sites that the first run sampled rarely or never, and closer bounds for the others"}
}

// traceRun is what a recording with a trace lacks until that is kept.
func traceRun() evidence.Gap {
	return evidence.Gap{Code: evidence.GapTrace, What: "the execution trace",
		Adds: "the goroutines that the collector delayed, and the lines that allocated meanwhile"}
}

// meant is what is recorded after the first window.
func (r *execRecorder) meant() []evidence.Gap {
	var out []evidence.Gap
	if r.o.Load != "" {
		out = append(out, fineRun())
	}
	if r.o.Trace > 0 && r.o.driven() {
		out = append(out, traceRun())
	}
	return out
}

var errUnfinished = errors.New("the recording ended before it was done")

// lack enters why something is not recorded, in place of what was entered of it
// before; with no reason, it is recorded.
func (r *execRecorder) lack(l evidence.Gap, why error) error {
	return r.w.Update(func(m *evidence.Manifest) {
		m.Gaps = slices.DeleteFunc(m.Gaps, func(x evidence.Gap) bool { return x.Code == l.Code })
		if why != nil {
			m.Gaps = append(m.Gaps, evidence.Gap{Code: l.Code, What: fmt.Sprintf("%s: %v", l.What, why),
				Adds: l.Adds})
		}
	})
}

// allocations repeats the run with fine sampling, under load for half as long.
// If the run fails, the manifest says so, and there is no error.
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

// fineRate is the sampling distance, a power of two, at which a program takes
// up to 20,000 samples a second: at about 2 µs each that costs a few percent of
// one core.
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

// record runs the program once and keeps what its recorder leaves.
func (r *execRecorder) record(ctx context.Context, p execPass) (recordedPass, error) {
	s, err := r.start(p)
	if err != nil {
		return recordedPass{}, err
	}
	err = s.window(ctx)
	var traceErr error
	if err == nil {
		traceErr = s.traceWindow(ctx)
	}
	s.close()
	kept, keepErr := r.keep(s)
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
	also := map[string]string{}
	if r.o.Trace > 0 && r.o.Requests {
		if also, err = requestOverlay(ctx, r.tmp, r.target.tool); err != nil {
			return err
		}
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

// describe enters target and toolchain; the rest of the environment comes from
// the program itself.
func (r *execRecorder) describe(ctx context.Context, notes []string) error {
	t := r.target.evidence
	t.Kind, t.Args = evidence.TargetExec, secret.Args(append([]string{r.o.Package}, r.o.Args...))
	t.Packages, t.BuildFlags = []string{r.target.pkg.ImportPath}, r.target.tool.Flags
	deps := map[string]bool{}
	for _, d := range gocmd.BinaryModules(r.binary) {
		deps[d] = true
	}
	t.Dependencies = gocmd.WithoutOwn(slices.Sorted(maps.Keys(deps)), t)
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

// errNothing says that the program ran and left nothing.
var errNothing = errors.New("nothing was recorded")
