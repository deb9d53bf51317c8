// Package bench records the benchmarks of packages. Each benchmark runs in several
// passes over the same work: timing with a CPU profile, allocations at a fine rate,
// the collector's log, and, with a small heap, unprofiled.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/after"
	"github.com/heaptrim/heaptrim/internal/record/host"
)

// Options says which benchmarks to record and for how long.
type Options struct {
	Dir        string          // directory of the go command; "" is the current one
	Patterns   []string        // packages; none means "."
	Bench      string          // regular expression as of go test; "" runs what fits Budget
	BenchTime  gocmd.BenchTime // length of one timing pass; by Budget where it is left open
	Count      int             // repetitions of each pass; 0 means 1
	Budget     time.Duration   // for building and all passes together when Bench is ""; 0 means 60s
	BuildFlags []string        // for the go command, such as -tags=x
	// Lean records only what benchmarks allocate, and for how long they run, where all passes of all may take longer than
	// Budget: as many as fit.
	Lean     bool
	Progress func(format string, args ...any)
}

// errNoBenchmarks means that the packages have no benchmarks that could run.
var errNoBenchmarks = errors.New("no benchmarks to record")

// Record builds the test binary of each package once and records its benchmarks into
// w, in separate passes over the same work: timing with a CPU profile, allocations at
// a fine rate, the collector's own log, and an unprofiled pass if the heap is small.
// After them it measures the costs of cache misses and page faults. When ctx ends, w
// keeps what has been recorded and the error is ctx's.
func Record(ctx context.Context, o Options, w *bundle.Writer) error {
	o = o.withDefaults()
	tmp, err := os.MkdirTemp("", "heaptrim-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	r := &benchRecorder{o: o, w: w, tmp: tmp, tool: gocmd.Tool{Dir: o.Dir, Flags: o.BuildFlags}}
	begin := time.Now()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	// Without a build there is nothing to measure, and it may take all of the time on a machine that has built nothing yet.
	r.measuring = max(o.Budget-time.Since(begin), o.Budget/2)
	begin = time.Now()
	all, err := r.probe(ctx)
	if err != nil {
		return err
	}
	chosen, leftOut := r.choose(all, time.Since(begin))
	if len(leftOut) > 0 {
		r.leaveOut(namesOf(leftOut))
	}
	failed, why := 0, ""
	end := begin.Add(r.measuring)
	until := begin.Add(time.Duration((1 - after.Share) * float64(r.measuring)))
	begin = time.Now()
	for i, p := range chosen {
		next := left(chosen[i:i+1], chosen[:i], time.Since(begin))
		if i > 0 && !o.BenchTime.Given() && (time.Now().After(until) || time.Now().Add(next/2).After(end)) {
			var late []probed
			for _, p := range chosen[i:] {
				late = append(late, p.probed)
			}
			r.leaveOut(namesOf(late))
			chosen = chosen[:i]
			break
		}
		o.Progress("recording %d of %d, %v left: %s", i+1, len(chosen),
			left(chosen[i:], chosen[:i], time.Since(begin)).Round(time.Second), p.name)
		if !o.BenchTime.Given() {
			p = within(until, end, chosen[i:])
		}
		tried := time.Now()
		if err := r.record(ctx, p); ctx.Err() != nil {
			return ctx.Err()
		} else if err != nil {
			failed++
			r.lacks(failureOf(p, err, time.Since(tried)))
			why = r.lastWarning
		}
	}
	if failed == len(chosen) {
		return fmt.Errorf("none of the %d benchmarks that there was time for could be recorded: %s", failed, why)
	}
	recorded := time.Since(begin)
	if err := r.code(ctx, end.Add(r.measuring/4)); err != nil {
		return err
	}
	if !o.BenchTime.Given() {
		recorded = min(recorded, time.Duration(float64(max(time.Until(end), 0))/after.Share))
	}
	return after.CacheMisses(ctx, w, recorded, o.Progress)
}

// code adds machine code, within the budget until end.
func (r *benchRecorder) code(ctx context.Context, end time.Time) error {
	limited, cancel := ctx, func() {}
	if !r.o.BenchTime.Given() {
		limited, cancel = context.WithDeadline(ctx, end)
	}
	defer cancel()
	err := after.Code(limited, r.w, r.binaryOf)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		r.lacks(fmt.Sprintf("the machine code of the functions with samples: the budget of %v left no time", r.o.Budget))
		return nil
	}
	return err
}

// binaryOf returns the test binary of a run's package.
func (r *benchRecorder) binaryOf(run evidence.Run) string {
	for _, p := range r.pkgs {
		if p.ImportPath == run.Package {
			return p.binary
		}
	}
	return ""
}

func (o Options) withDefaults() Options {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	if o.Count <= 0 {
		o.Count = 1
	}
	if o.Budget <= 0 {
		o.Budget = 60 * time.Second
	}
	if o.Bench != "" && !o.BenchTime.Given() {
		o.BenchTime.Time = defaultBenchTime
	}
	if o.Progress == nil {
		o.Progress = func(string, ...any) {}
	}
	return o
}

// benchRecorder records the benchmarks of one call of Record.
type benchRecorder struct {
	o           Options
	w           *bundle.Writer
	tmp         string
	tool        gocmd.Tool
	pkgs        []testPackage
	procs       int
	lastWarning string
	measuring   time.Duration // what building leaves of the budget, at least half of it
}

// testPackage is a package under test with its built binary.
type testPackage struct {
	gocmd.Package
	source   benchSource
	binary   string
	recorder bool // the recorder is in the binary
}

// prepare finds the packages, builds their test binaries and describes the target.
func (r *benchRecorder) prepare(ctx context.Context) error {
	list, err := r.tool.Packages(ctx, r.o.Patterns)
	if err == nil {
		err = gocmd.NotFound(list)
	}
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("no packages match %s", strings.Join(r.o.Patterns, " "))
	}
	for _, p := range list {
		s := readBenchSource(p)
		if len(s.names) > 0 {
			r.pkgs = append(r.pkgs, testPackage{Package: p, source: s})
		}
	}
	if len(r.pkgs) == 0 {
		return noBenchmarks(ctx, r.tool, list)
	}
	r.procs = runtime.GOMAXPROCS(0)
	if err := r.findHelperLoops(ctx); err != nil {
		return err
	}
	if err := r.buildAll(ctx); err != nil {
		return err
	}
	return r.describe(ctx)
}

// buildAll builds the test binaries. The first one may take any time. The others are built until half of the budget is
// over; the other half is for measuring.
func (r *benchRecorder) buildAll(ctx context.Context) error {
	half := time.Now().Add(r.o.Budget / 2)
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	results := r.builds(limited)
	ready := 0
	var firstErr error
	var late []testPackage
	for i := range r.pkgs {
		path := r.pkgs[i].ImportPath
		r.o.Progress("building %d/%d %s", i+1, len(r.pkgs), path)
		switch res := <-results[i]; {
		case res.err != nil && limited.Err() != nil:
			late = append(late, r.pkgs[i])
		case res.err != nil:
			firstErr = cmp.Or(firstErr, res.err)
			r.lacks(fmt.Sprintf("%s, whose test binary does not build: %s", path, firstFailure(res.err)))
		default:
			if res.warning != "" {
				r.warn(res.warning)
			}
			if ready++; ready == 1 && !r.o.BenchTime.Given() {
				defer time.AfterFunc(time.Until(half), cancel).Stop()
			}
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(late) > 0 {
		r.lacks(fmt.Sprintf("packages whose test binaries half of the budget of %v left no time to build: %s (use -budget)",
			r.o.Budget, strings.Join(gocmd.FirstOf(pathsOf(late), 8), ", ")))
	}
	if ready == 0 {
		return firstErr
	}
	return nil
}

// built is how the test binary of a package was built.
type built struct {
	warning string
	err     error
}

// builds starts to build the test binaries in order, one for each processor at a time: linking uses a single processor.
// Each channel gets one result; afterwards no goroutine writes to that package.
func (r *benchRecorder) builds(ctx context.Context) []chan built {
	results := make([]chan built, len(r.pkgs))
	for i := range results {
		results[i] = make(chan built, 1)
	}
	var next atomic.Int64
	for range r.procs {
		go func() {
			for i := next.Add(1) - 1; i < int64(len(results)); i = next.Add(1) - 1 {
				warning, err := r.build(ctx, int(i))
				results[i] <- built{warning, err}
			}
		}()
	}
	return results
}

func pathsOf(pkgs []testPackage) []string {
	paths := make([]string, len(pkgs))
	for i, p := range pkgs {
		paths[i] = p.ImportPath
	}
	return paths
}

// findHelperLoops adds measured loops in the user's non-test files, which benchmarks
// may call.
func (r *benchRecorder) findHelperLoops(ctx context.Context) error {
	all, err := r.tool.Packages(ctx, pathsOf(r.pkgs), "-deps", "-test")
	if err == nil {
		err = gocmd.NotFound(all)
	}
	if err != nil {
		return err
	}
	var helpers benchSource
	for _, file := range testHelpers(all) {
		helpers.read(file)
	}
	for i := range r.pkgs {
		r.pkgs[i].source.loops = append(r.pkgs[i].source.loops, helpers.loops...)
	}
	return nil
}

// describe writes the target and the environment into the manifest.
func (r *benchRecorder) describe(ctx context.Context) error {
	t := evidence.Target{Kind: evidence.TargetPackages, Args: r.o.Patterns, BuildFlags: r.o.BuildFlags}
	if err := gocmd.DescribeModules(ctx, r.tool, &t); err != nil {
		return err
	}
	deps := map[string]bool{}
	for _, p := range r.pkgs {
		t.Packages = append(t.Packages, p.ImportPath)
		for _, d := range gocmd.BinaryModules(p.binary) {
			deps[d] = true
		}
	}
	t.Dependencies = gocmd.WithoutOwn(slices.Sorted(maps.Keys(deps)), t)
	var err error
	if t.Sources, err = gocmd.HashSources(ctx, r.tool, t.Packages, t.ModuleDir); err != nil {
		return err
	}
	env, err := r.tool.Settings(ctx, "GOVERSION", "GOOS", "GOARCH", "GOROOT", "GOEXPERIMENT")
	if err != nil {
		return err
	}
	return r.w.Update(func(m *evidence.Manifest) {
		m.Target = t
		e := &m.Environment
		e.GoVersion, e.GOOS, e.GOARCH, e.GOROOT, e.Experiment = env["GOVERSION"], env["GOOS"], env["GOARCH"],
			env["GOROOT"], env["GOEXPERIMENT"]
		e.GOMAXPROCS = r.procs
		e.GOGC, e.GOMEMLIMIT, e.GODEBUG = host.StartGOGC(os.Getenv("GOGC")), cmp.Or(os.Getenv("GOMEMLIMIT"),
			"off"), os.Getenv("GODEBUG")
	})
}

// choose plans the benchmarks within the budget. The time for probing is subtracted,
// but at most half of the budget, so that slow probing leaves time to record.
func (r *benchRecorder) choose(all []probed, look time.Duration) ([]planned, []probed) {
	left := time.Duration((1-after.Share)*float64(r.measuring)) - min(look, r.measuring/2)
	left /= time.Duration(r.o.Count)
	chosen, leftOut := plan(all, left, r.o.BenchTime)
	if r.o.Lean && (len(leftOut) > 0 || 2*needs(chosen) > left) {
		chosen, leftOut = planLean(all, left) // a busy machine takes longer than planned
	}
	if r.o.BenchTime.Given() {
		return chosen, leftOut
	}
	chosen, slow := drop(chosen, left)
	return chosen, append(leftOut, slow...)
}

// leaveOut notes the benchmarks that did not fit the budget.
func (r *benchRecorder) leaveOut(names []string) {
	what := "benchmarks"
	if len(names) == 1 {
		what = "benchmark"
	}
	r.lacks(fmt.Sprintf("%d %s that did not fit the budget of %v: %s (use -budget or -bench)", len(names), what, r.o.Budget,
		strings.Join(gocmd.FirstOf(names, 8), ", ")))
}

// failureOf says why a benchmark is not recorded.
func failureOf(p planned, err error, took time.Duration) string {
	if errors.Is(err, errLate) {
		return fmt.Sprintf("%s, which was ended after %v: it hangs, or %v (use -budget or -bench)", p.name,
			took.Round(time.Second/10), err)
	}
	return p.name + ", which failed: " + firstFailure(err)
}

func namesOf(list []probed) []string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.name
	}
	return names
}

// lacks notes benchmarks that are missing in the recording. Here and in warn, errors
// of the manifest are ignored: the recording itself goes on.
func (r *benchRecorder) lacks(text string) {
	r.lastWarning = text
	r.o.Progress("without %s", text)
	_ = r.w.Update(func(m *evidence.Manifest) { m.LeftOut = append(m.LeftOut, text) })
}

func (r *benchRecorder) warn(text string) {
	r.lastWarning = text
	r.o.Progress("warning: %s", text)
	_ = r.w.Update(func(m *evidence.Manifest) { m.Warnings = append(m.Warnings, text) })
}

// firstFailure returns the most useful line of a failed command's output, which
// follows the first line of the error.
func firstFailure(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for _, l := range lines[1:] {
		l = strings.TrimSpace(l)
		if l != "" && l != "FAIL" && l != "PASS" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "…") {
			return l
		}
	}
	return lines[0]
}
