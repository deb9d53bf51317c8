package prove

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/prove/sides"
)

// ErrNothing says that there is nothing that both sides could run.
var ErrNothing = errors.New("nothing to compare")

// benchmarks is the workload of packages: each benchmark alone in a process,
// with the same number of iterations on both sides.
type benchmarks struct {
	*engine
	pkgs []benchPackage
}

// benchPackage is a package with its test binary on either side.
type benchPackage struct {
	path     string
	programs []sides.Program
	start    time.Duration // a process that runs nothing
}

// probed is what a first run said of one benchmark on one side.
type probed struct {
	name       string
	nsPerOp    float64
	iterations int64 // that nsPerOp is of
	failed     string
}

func (w *benchmarks) prepare(ctx context.Context) ([]*subject, error) {
	if err := w.build(ctx); err != nil {
		return nil, err
	}
	var all []*subject
	for i := range w.pkgs {
		found, err := w.subjects(ctx, i)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		if w.o.Bench == "" {
			return nil, fmt.Errorf("%w: every benchmark was skipped or is not on all sides%s", ErrNothing, w.because())
		}
		return nil, fmt.Errorf("%w: -bench %s matches no benchmark of %s sides%s", ErrNothing, w.o.Bench, both(len(w.trees)), w.because())
	}
	w.plan(all)
	return all, nil
}

// because adds what was left out to an error.
func (e *engine) because() string {
	if len(e.result.LeftOut) == 0 {
		return ""
	}
	return "; " + strings.Join(e.result.LeftOut, "; ")
}

// build makes the test binaries. Sides of the same code share theirs.
func (w *benchmarks) build(ctx context.Context) error {
	lists := make([][]gocmd.Package, len(w.trees))
	for i, t := range w.trees {
		list, err := t.Tool.Packages(ctx, w.patterns())
		if err != nil {
			return fmt.Errorf("%s (%s): %w", Letter(i), t.Info.Spec, err)
		}
		lists[i] = list
	}
	var firstErr error
	for _, path := range union(lists) {
		p, err := w.buildPackage(ctx, path, lists)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			w.leaveOut("%s: %s", path, firstLines(err))
			continue
		}
		if p != nil {
			w.pkgs = append(w.pkgs, *p)
		}
	}
	switch {
	case len(w.pkgs) > 0:
		return nil
	case firstErr != nil:
		return firstErr
	}
	return fmt.Errorf("%w: no benchmarks in %s", ErrNothing, strings.Join(union(lists), ", "))
}

func (w *benchmarks) patterns() []string {
	if len(w.o.Packages) == 0 {
		return []string{"."}
	}
	return w.o.Packages
}

// union is the packages of all sides in order, those with tests.
func union(lists [][]gocmd.Package) []string {
	var out []string
	for _, list := range lists {
		for _, p := range list {
			if !slices.Contains(out, p.ImportPath) {
				out = append(out, p.ImportPath)
			}
		}
	}
	return out
}

func (w *benchmarks) buildPackage(ctx context.Context, path string, lists [][]gocmd.Package) (*benchPackage, error) {
	b := &benchPackage{path: path}
	tests := 0
	for i, list := range lists {
		k := slices.IndexFunc(list, func(p gocmd.Package) bool { return p.ImportPath == path })
		if k < 0 {
			return nil, fmt.Errorf("the package is not in %s (%s)", Letter(i), w.trees[i].Info.Spec)
		}
		p := list[k]
		if p.Error != nil && p.Dir == "" {
			return nil, errors.New(p.Error.Err)
		}
		tests += len(p.TestGoFiles) + len(p.XTestGoFiles)
	}
	if tests == 0 {
		return nil, nil
	}
	for i, list := range lists {
		k := slices.IndexFunc(list, func(p gocmd.Package) bool { return p.ImportPath == path })
		binary, err := w.binary(ctx, i, path, func(t *sides.Tree, to string) error {
			return t.Tool.TestBinary(ctx, path, to)
		})
		if err != nil {
			return nil, fmt.Errorf("%s (%s) does not build: %w", Letter(i), w.trees[i].Info.Spec, err)
		}
		if binary == "" {
			return nil, fmt.Errorf("the package has no tests in %s", Letter(i))
		}
		b.programs = append(b.programs, w.trees[i].ProgramOf(binary, list[k].Dir))
	}
	return b, nil
}

// binary builds a program for side i, or takes that of a side before it with the
// same code. It returns "" where the build makes no file, which is so without
// tests.
func (e *engine) binary(ctx context.Context, i int, path string, build func(t *sides.Tree, to string) error) (string, error) {
	t := e.trees[i]
	for _, before := range e.trees[:i] {
		if t.SameCode(before) {
			at := before.File(path)
			return at, t.Note(path, at)
		}
	}
	at := t.File(path)
	e.progress("building %s: %s", Letter(i), path)
	if err := build(t, at); err != nil {
		return "", err
	}
	if _, err := os.Stat(at); err != nil {
		return "", nil
	}
	return at, t.Note(path, at)
}

// firstLines are the telling ones of a failed build, in one line.
func firstLines(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for _, l := range lines[1:] {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") && !strings.HasPrefix(l, "…") {
			return lines[0] + ": " + l
		}
	}
	return lines[0]
}

// subjects probes a package on all sides and joins what is there.
func (w *benchmarks) subjects(ctx context.Context, i int) ([]*subject, error) {
	p := &w.pkgs[i]
	var found [][]probed
	for side := range p.programs {
		w.progress("probing %s: %s", Letter(side), p.path)
		list, err := w.probe(ctx, p, side)
		if err == nil {
			err = w.probeAgain(ctx, p, side, list)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, list)
	}
	var out []*subject
	for _, name := range namesOf(found) {
		s := newSubject(name, p.path, len(found))
		s.pkg = i
		in, failed := "", 0
		for side, list := range found {
			one, ok := lookup(list, name)
			if ok {
				in += Letter(side)
			}
			if one.failed != "" {
				failed++
			}
			s.ns[side], s.failed[side] = one.nsPerOp, one.failed
		}
		switch {
		case len(in) < len(found):
			w.leaveOut("%s is only in %s", name, strings.Join(strings.Split(in, ""), ", "))
			continue
		case failed == len(found):
			w.leaveOut("%s fails on %s sides: %s", name, both(failed), s.failed[0])
			continue
		}
		// What failed already is told even if no run is made.
		s.compare(w.result.Target.Kind, w.result.Rules.Gate)
		out = append(out, s)
	}
	return out, nil
}

func both(sides int) string {
	if sides == 2 {
		return "both"
	}
	return "all"
}

func namesOf(found [][]probed) []string {
	var names []string
	for _, list := range found {
		for _, p := range list {
			if !slices.Contains(names, p.name) {
				names = append(names, p.name)
			}
		}
	}
	return names
}

func lookup(list []probed, name string) (probed, bool) {
	for _, p := range list {
		if p.name == name {
			return p, true
		}
	}
	return probed{}, false
}

// probeTime is long enough to size a run by.
const probeTime = 20 * time.Millisecond

// probe runs the selected benchmarks for a moment: all together, and if that
// fails one by one, so that one that panics does not take the rest with it.
func (w *benchmarks) probe(ctx context.Context, p *benchPackage, side int) ([]probed, error) {
	if r, err := w.execute(ctx, w.test(p, side, "^$", "1x")); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("%s: the tests of %s do not start: %s", Letter(side), p.path, failureText(r, err))
	} else {
		p.start = max(p.start, r.wall)
	}
	re := w.o.Bench
	if re == "" {
		re = "."
	}
	x := w.test(p, side, re, probeTime.String())
	r, err := w.execute(ctx, x)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var found []probed
	if err == nil {
		if found, err = w.results(p, side, r); err != nil {
			return nil, err
		}
	}
	return w.probeEach(ctx, p, side, found)
}

// probeAgain repeats what few iterations tell of. A benchmark that another program
// came between seems many times as slow as it is; runs of a few iterations would
// follow from that, in which what the process allocates by itself counts. The
// smaller figure holds.
func (w *benchmarks) probeAgain(ctx context.Context, p *benchPackage, side int, list []probed) error {
	const few, longest = 100, 2 * time.Second
	for i := range list {
		one := &list[i]
		if one.failed != "" || one.iterations >= few || one.nsPerOp*float64(one.iterations) > float64(longest) {
			continue
		}
		r, err := w.execute(ctx, w.test(p, side, exactly(one.name), probeTime.String()))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // if it fails again, its runs tell how
		}
		found, err := w.results(p, side, r)
		if err != nil {
			return err
		}
		if second, ok := lookup(found, one.name); ok {
			one.nsPerOp = min(one.nsPerOp, second.nsPerOp)
		}
	}
	return nil
}

// probeEach runs each top-level benchmark that is not among those found in a process of its own. A panic lets the
// deferred calls of the benchmark run first, and they wake the main goroutine, which may end the process without an
// error: so a benchmark that is named without a result is run again. One that skips itself is not named.
func (w *benchmarks) probeEach(ctx context.Context, p *benchPackage, side int, out []probed) ([]probed, error) {
	names, rest, err := w.names(ctx, p, side)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if slices.ContainsFunc(out, func(o probed) bool { return o.name == name || strings.HasPrefix(o.name, name+"/") }) {
			continue
		}
		w.progress("probing %s: %s", Letter(side), name)
		for range 3 {
			r, err := w.execute(ctx, w.test(p, side, "^"+regexp.QuoteMeta(name)+"$"+rest, probeTime.String()))
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			found, perr := w.results(p, side, r)
			if perr != nil {
				return nil, perr
			}
			out = append(out, found...)
			if err != nil {
				out = append(out, probed{name: name, failed: failureText(r, err)})
			}
			if err != nil || len(found) > 0 || !mentions(r.stdout, name) {
				break
			}
		}
	}
	return out, nil
}

// mentions reports whether a file has a word.
func mentions(file, word string) bool {
	data, err := os.ReadFile(file)
	return err == nil && bytes.Contains(data, []byte(word))
}

// names are the top-level benchmarks that are selected, and what selects their sub-benchmarks.
func (w *benchmarks) names(ctx context.Context, p *benchPackage, side int) (names []string, rest string, err error) {
	x := w.test(p, side, "^$", "1x")
	x.args = []string{"-test.list=^Benchmark"}
	r, err := w.execute(ctx, x)
	if err != nil {
		return nil, "", fmt.Errorf("%s: list the benchmarks of %s: %s", Letter(side), p.path, failureText(r, err))
	}
	data, err := os.ReadFile(r.stdout)
	if err != nil {
		return nil, "", err
	}
	first, rest := splitPattern(w.o.Bench)
	matcher, err := regexp.Compile(first)
	if err != nil {
		return nil, "", fmt.Errorf("-bench: %w", err)
	}
	for name := range strings.Lines(string(data)) {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "Benchmark") && matcher.MatchString(name) {
			names = append(names, name)
		}
	}
	return names, rest, nil
}

// splitPattern parts a -bench expression at its first slash outside of brackets,
// behind which the sub-benchmarks are selected. One with alternatives selects
// different ones for each and is taken by its top level only.
func splitPattern(re string) (first, rest string) {
	depth := 0
	for i, c := range re {
		switch {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == '|' && depth <= 0 && strings.Contains(re, "/"):
			return "", ""
		case c == '/' && depth <= 0:
			return re[:i], re[i:]
		}
	}
	return re, ""
}

// test is an execution of a test binary. GOMAXPROCS is stated, so that it is
// known which number behind a benchmark's name it is.
func (w *benchmarks) test(p *benchPackage, side int, re, length string) execution {
	limit := 10 * time.Minute
	if w.o.Budget > 0 {
		limit = max(w.o.Budget, 10*time.Second)
	}
	x := execution{Program: p.programs[side], limit: limit}
	x.args = []string{"-test.run=^$", "-test.benchmem", "-test.bench=" + re, "-test.benchtime=" + length, fmt.Sprintf("-test.cpu=%d", x.Procs), "-test.timeout=0"}
	return x
}

// results are the benchmarks that a process printed, each once.
func (w *benchmarks) results(p *benchPackage, side int, r executed) ([]probed, error) {
	lines, err := readResults(p.path, r.stdout)
	if err != nil {
		return nil, err
	}
	var out []probed
	for _, l := range lines {
		name := plainName(l.FullName, p.programs[side].Procs)
		if _, dup := lookup(out, name); !dup {
			out = append(out, probed{name: name, nsPerOp: l.NsPerOp, iterations: l.Iterations})
		}
	}
	return out, nil
}

func readResults(name, file string) ([]benchlog.Result, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	log, err := benchlog.Read(name, f)
	if err != nil {
		return nil, err
	}
	return log.Results, nil
}

func plainName(full string, procs int) string {
	if procs == 1 {
		return full
	}
	return strings.TrimSuffix(full, fmt.Sprintf("-%d", procs))
}

// exactly selects one benchmark.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// plan chooses the iterations of each benchmark, one number for all sides:
// what is allocated once then weighs the same on all.
func (w *benchmarks) plan(all []*subject) {
	length := w.o.BenchTime.Time
	if !w.o.BenchTime.Given() {
		length = w.runTime(all)
	}
	w.result.Target.RunTime = length
	for _, s := range all {
		if s.over() {
			continue
		}
		fast, slow := math.Inf(1), 0.1
		for _, side := range s.alive() {
			fast, slow = math.Min(fast, s.ns[side]), math.Max(slow, s.ns[side])
		}
		fast = math.Max(fast, 0.1)
		// The fastest side runs for the planned time, if the slowest then runs
		// for no more than eight times that.
		n := math.Min(float64(length)/fast, math.Max(8*float64(length)/slow, 1))
		s.iterations = cmp.Or(w.o.BenchTime.Ops, max(int64(math.Ceil(n)), 1))
		for i := range s.expected {
			s.expected[i] = w.pkgs[s.pkg].start + time.Duration(s.ns[i]*float64(s.iterations))
		}
	}
}

// runTime is the length of a run at which the pairs that a call needs fit into
// the budget, and as many again if runs are long enough for their figures.
func (w *benchmarks) runTime(all []*subject) time.Duration {
	const shortest, longest = 20 * time.Millisecond, 300 * time.Millisecond
	var starts time.Duration
	for _, s := range all {
		starts += w.pkgs[s.pkg].start
	}
	sides := max(len(w.trees), 2)
	pairs := w.needed(2 * len(all) * (sides - 1))
	// Collector runs add to those of a pair.
	runs := time.Duration(float64(sides*pairs) * 1.4)
	perRun := (w.o.Budget*8/10/max(runs, 1) - starts) / time.Duration(max(len(all), 1))
	return min(max(perRun/2, shortest), longest)
}

// run makes one run of a benchmark.
func (w *benchmarks) run(ctx context.Context, s *subject, o runOrder) (Sample, error) {
	p := &w.pkgs[s.pkg]
	x := w.test(p, o.side, exactly(s.name), fmt.Sprintf("%dx", s.iterations))
	x.trace = o.collector
	r, err := w.execute(ctx, x)
	if ctx.Err() != nil {
		return Sample{}, ctx.Err()
	}
	if err != nil {
		return Sample{}, errors.New(failureText(r, err))
	}
	run := Sample{Side: o.side, Pair: o.pair, Collector: o.collector, Procs: x.Procs, Wall: r.wall, Values: map[string]float64{}}
	lines, err := readResults(p.path, r.stdout)
	if err != nil {
		return Sample{}, err
	}
	k := slices.IndexFunc(lines, func(l benchlog.Result) bool { return plainName(l.FullName, x.Procs) == s.name })
	if k < 0 {
		return Sample{}, errors.New(noResult(r))
	}
	l := lines[k]
	if l.Iterations != s.iterations {
		return Sample{}, fmt.Errorf("ran %d iterations where %d were asked for", l.Iterations, s.iterations)
	}
	if o.collector {
		return run, run.collection(r.stderr, window{cpu: r.cpu, rss: r.rss})
	}
	maps.Copy(run.Values, l.Metrics)
	run.Values[unitTime] = l.NsPerOp
	if l.Mem {
		run.Values[unitBytes], run.Values[unitAllocs] = l.BytesPerOp, l.AllocsPerOp
	}
	run.Values[unitCPUOp] = float64(r.cpu) / float64(s.iterations)
	return run, nil
}
