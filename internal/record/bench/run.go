package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
	"github.com/heaptrim/heaptrim/internal/ingest/gctrace"
	"github.com/heaptrim/heaptrim/internal/ingest/pprof"
	"github.com/heaptrim/heaptrim/internal/record/host"
	"github.com/heaptrim/heaptrim/internal/record/process"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// flushBenchmark runs last and writes the recorder's profile. A test binary has no
// other hook at its end that also works with a TestMain of the user's.
const flushBenchmark = "BenchmarkZzHeaptrimFlush"

const flushSource = `package %s

import "testing"

// %s writes what the recorder holds.
func %[2]s(*testing.B) { %s() }
`

// handSource hands the recorder's function to the external test package, whose benchmarks run last.
const handSource = "package %s\n\nvar Heaptrim7qFlush = %s\n"

// handedSource is flushSource in the external test package, with the recorder in the package itself.
const handedSource = `package %s_test

import (
	"testing"

	heaptrim7q %q
)

// %s writes what the recorder holds.
func %[3]s(*testing.B) { heaptrim7q.Heaptrim7qFlush() }
`

// build builds the test binary of one package with the recorder in its external test
// package, or in the package itself where the other declares a name that the recorder needs, such as close. If
// neither builds, the plain binary and go test's own profile are used, and warning says so. It may run for several
// packages at once.
func (r *benchRecorder) build(ctx context.Context, i int) (warning string, err error) {
	p := &r.pkgs[i]
	p.binary = filepath.Join(r.tmp, fmt.Sprintf("p%d.test", i))
	defer func() {
		if _, err := os.Stat(p.binary); err != nil {
			p.binary = "" // the package has no tests
		}
	}()
	args := []string{"-c", "-vet=off", "-o", p.binary}
	flush := map[string]string{
		"zz_heaptrim_hand_test.go":   fmt.Sprintf(handSource, p.Name, recorder.FlushFunc),
		"zz_heaptrim_zflush_test.go": fmt.Sprintf(handedSource, p.Name, p.ImportPath, flushBenchmark),
	}
	for _, files := range []map[string]string{with(p.Name+"_test", nil), with(p.Name, flush), with(p.Name, nil)} {
		overlay, broken := r.overlay(p.Package, i, files)
		if broken != nil {
			return "", broken
		}
		if _, err = r.tool.Output(ctx, "test", append(args, "-overlay", overlay, p.ImportPath)...); err == nil {
			p.recorder = true
			return "", nil
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, plain := r.tool.Output(ctx, "test", append(args, p.ImportPath)...); plain != nil {
		return "", plain
	}
	return fmt.Sprintf("%s: the recorder could not be added to its test binary, so in-use memory and allocation "+
		"kinds are not recorded: %v", p.ImportPath, err), nil
}

// with are the files that add the recorder to the package of a name, with the files that write what it holds; nil: in the
// same package.
func with(name string, flush map[string]string) map[string]string {
	files := map[string]string{"zz_heaptrim_recorder_test.go": string(recorder.Render(name))}
	if flush == nil {
		files["zz_heaptrim_zflush_test.go"] = fmt.Sprintf(flushSource, name, flushBenchmark, recorder.FlushFunc)
	}
	maps.Copy(files, flush)
	return files
}

// overlay adds files to a package's tests.
func (r *benchRecorder) overlay(p gocmd.Package, i int, add map[string]string) (string, error) {
	files := map[string]string{}
	for file, src := range add {
		at := filepath.Join(r.tmp, fmt.Sprintf("p%d_%s", i, file))
		if err := os.WriteFile(at, []byte(src), 0o600); err != nil {
			return "", err
		}
		files[filepath.Join(p.Dir, file)] = at
	}
	return gocmd.WriteOverlay(r.tmp, files)
}

// testRun is one start of a test binary.
type testRun struct {
	pkg   *testPackage
	args  []string
	env   []string
	limit *limit // nil: none
}

// ran is the result of one start of a test binary.
type ran struct {
	out, err []byte
	wall     time.Duration
	cpu      time.Duration
	timedOut bool
}

// mostOutput limits how much of a test binary's output is kept. The end is kept,
// because it has the result of a single benchmark. A collector log grows by at most
// about 100 KiB a second.
const mostOutput = 16 << 20

// run starts a test binary in its package's directory. If a benchmark fails, the error
// contains its output. A run over its limit is ended and its output is kept.
func (r *benchRecorder) run(ctx context.Context, t testRun) (ran, error) {
	limited, stop := t.limit.start(ctx)
	defer stop()
	cmd := exec.CommandContext(limited, t.pkg.binary, append([]string{"-test.run=^$", "-test.benchmem"}, t.args...)...)
	cmd.Dir = t.pkg.Dir
	cmd.Env = append(os.Environ(), t.env...)
	out, errs := &process.Tail{Most: mostOutput}, &process.Tail{Most: mostOutput}
	if t.limit != nil {
		out.Next = t.limit
	}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = 2 * time.Second
	start := time.Now()
	err := process.Run(cmd, nil)
	res := ran{out: out.Bytes(), err: errs.Bytes(), wall: time.Since(start)}
	if cmd.ProcessState != nil {
		res.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	switch {
	case ctx.Err() != nil:
		return res, ctx.Err()
	case limited.Err() != nil:
		res.timedOut = true
		return res, nil
	case err != nil:
		return res, fmt.Errorf("%s: %w\n%s", t.pkg.ImportPath, err, failureText(res))
	}
	return res, nil
}

// reasonLine matches a message of Fatal or Error.
var reasonLine = regexp.MustCompile(`^\S+\.go:\d+: `)

// failureText returns the output of a failed run. Package testing reports on standard
// output; crashes go to standard error, together with the collector's log.
func failureText(res ran) string {
	var errs bytes.Buffer
	split := gctrace.NewSplitter(io.Discard, &errs)
	// Both write to memory and cannot fail.
	_, _ = split.Write(res.err)
	_ = split.Close()
	var telling, failed []string
	for l := range strings.Lines(string(res.out) + "\n" + errs.String()) {
		l = strings.TrimSpace(l)
		if at := strings.Index(l, "--- FAIL: "); at > 0 {
			l = l[at:] // the benchmark's name was printed before it ran
		}
		// Results and headings from before the failure do not explain it.
		if l == "" || strings.HasPrefix(l, "Benchmark") || strings.HasPrefix(l, "goos:") ||
			strings.HasPrefix(l, "goarch:") || strings.HasPrefix(l, "pkg:") || strings.HasPrefix(l, "cpu:") {
			continue
		}
		if failedLine.MatchString(l) || len(failed) > 0 && reasonLine.MatchString(l) {
			failed = append(failed, l) // last, so that the program's own output does not hide it
			continue
		}
		telling = append(telling, l)
	}
	return gocmd.LastLines(strings.Join(append(telling, failed...), "\n"), 20)
}

// runOne runs one benchmark of the plan. If a process prints the benchmark's result
// and fails after that, for example in a check of its TestMain, the result is valid
// and the failure becomes a warning.
func (b *benchRun) runOne(ctx context.Context, t testRun) (ran, error) {
	t.pkg = b.tested()
	if !b.end.IsZero() {
		t.limit = &limit{end: b.end}
	}
	res, err := b.rec.run(ctx, t)
	if err == nil && res.timedOut {
		return res, errLate
	}
	if err == nil || ctx.Err() != nil {
		return res, err
	}
	if found, perr := b.rec.results(b.planned.pkg, res.out); perr != nil || len(found) == 0 {
		return res, err
	}
	b.rec.warn(fmt.Sprintf("%s: the process failed after it printed the result: %s", b.name, firstFailure(err)))
	return res, nil
}

// results parses the benchmark lines of package i. If a benchmark reports several
// times, the last line counts.
func (r *benchRecorder) results(i int, out []byte) ([]probed, error) {
	log, err := benchlog.Read(r.pkgs[i].ImportPath, bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	var ps []probed
	at := map[string]int{}
	for _, res := range log.Results {
		if strings.HasPrefix(res.Name, flushBenchmark) {
			continue
		}
		p := probed{i, r.plainName(res.FullName), res.NsPerOp, res.BytesPerOp, res.AllocsPerOp}
		if k, dup := at[p.name]; dup {
			ps[k] = p
			continue
		}
		at[p.name] = len(ps)
		ps = append(ps, p)
	}
	return ps, nil
}

// plainName strips the GOMAXPROCS suffix. The number is known here, so a name that
// ends in a number of its own stays intact.
func (r *benchRecorder) plainName(full string) string {
	if r.procs == 1 {
		return full
	}
	return strings.TrimSuffix(full, fmt.Sprintf("-%d", r.procs))
}

// record runs the passes of one benchmark.
func (r *benchRecorder) record(ctx context.Context, p planned) error {
	pkg := &r.pkgs[p.pkg]
	b := benchRun{
		rec: r, planned: p,
		id: r.w.Run(evidence.Run{Name: p.name, Package: pkg.ImportPath, Loops: pkg.source.loops}),
	}
	all := []func(context.Context) error{b.timing, b.allocation, b.collector, b.paces}
	if r.o.Lean && p.lean() {
		all = all[:2]
	}
	begin := time.Now()
	for range r.o.Count {
		for i, pass := range all {
			err := pass(ctx)
			if errors.Is(err, errLate) && i+b.count > 0 { // the passes recorded so far are usable
				r.lacks(fmt.Sprintf("the rest of %s, which was ended after %v: %v (use -budget or -bench)", p.name,
					time.Since(begin).Round(time.Second/10), err))
				return nil
			}
			if err != nil {
				return err
			}
		}
		b.count++
	}
	return nil
}

// errLate means that a benchmark was ended because its part of the budget was over.
var errLate = errors.New("it took longer than its part of the budget")

// benchRun is the recording of one benchmark.
type benchRun struct {
	rec *benchRecorder
	planned
	id    int
	count int
	used  recorder.Result // of the timing pass
	gc    collectorPass
}

// tested is the package of the benchmark.
func (b *benchRun) tested() *testPackage { return &b.rec.pkgs[b.planned.pkg] }

// collectorPass is what is known of a collector pass.
type collectorPass struct {
	ops  int64
	log  []byte
	took time.Duration // its operations
}

// optional runs a pass that the recording can do without: its failure is a warning.
func (b *benchRun) optional(ctx context.Context, pass func(context.Context) error, failed string) error {
	err := pass(ctx)
	if err != nil && ctx.Err() == nil {
		b.rec.warn(fmt.Sprintf("%s: %s: %s", b.name, failed, firstFailure(err)))
		return nil
	}
	return err
}

func (b *benchRun) args(ops int64, also string) []string {
	pattern := benchPattern(b.name)
	if also != "" {
		pattern += "|^" + also + "$"
	}
	return []string{"-test.bench=" + pattern, fmt.Sprintf("-test.benchtime=%dx", ops), "-test.timeout=30m"}
}

// part completes the description of a file of this benchmark. p.Path is only the
// file's name so far.
func (b *benchRun) part(p evidence.Part, res ran) evidence.Part {
	dir := fmt.Sprintf("%03d", b.id)
	if b.count > 0 {
		dir += fmt.Sprintf("-%d", b.count)
	}
	p.Path = dir + "/" + p.Path
	p.Wall, p.CPU = res.wall, res.cpu
	return p
}

// timing runs with the CPU profiler at its default rate and nothing else. If the
// probe's estimate gave too little CPU time to sample, it corrects the number of
// operations once.
func (b *benchRun) timing(ctx context.Context) error {
	cpu := filepath.Join(b.rec.tmp, "cpu.pprof")
	res, use, err := b.profiled(ctx, cpu)
	if err != nil {
		return err
	}
	if more := b.enough(res); more > b.ops && b.count == 0 {
		b.ops = more
		if res, use, err = b.profiled(ctx, cpu); err != nil {
			return err
		}
	}
	b.fitRest(res)
	if err := b.keepText(b.part(evidence.Part{Path: "timing.txt", Kind: evidence.KindBench, Pass: evidence.PassTiming,
		Ops: b.ops}, res), b.benchText(res.out)); err != nil {
		return err
	}
	p := b.part(evidence.Part{Path: "cpu.pprof", Kind: evidence.KindCPU, Pass: evidence.PassTiming, Ops: b.ops}, res)
	b.used = use
	return b.rec.w.Adopt(b.id, withUse(p, use), cpu)
}

// profiled runs the benchmark with go test's own CPU profile into a file. A recorder
// in the binary only reads what the process has used, at the start and the end.
func (b *benchRun) profiled(ctx context.Context, file string) (ran, recorder.Result, error) {
	var use recorder.Result
	if !b.tested().recorder {
		res, err := b.runOne(ctx, testRun{args: append(b.args(b.ops, ""), "-test.cpuprofile="+file)})
		return res, use, err
	}
	dir, err := os.MkdirTemp(b.rec.tmp, "rec-")
	if err != nil {
		return ran{}, use, err
	}
	defer os.RemoveAll(dir)
	env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1})
	res, err := b.runOne(ctx, testRun{args: append(b.args(b.ops, flushBenchmark), "-test.cpuprofile="+file), env: env})
	if err != nil {
		return res, use, err
	}
	if use, err = recorder.Files(dir); err != nil {
		return res, use, err
	}
	prof, err := pprof.Open(file)
	if err != nil {
		return res, use, fmt.Errorf("the CPU profile of %s: %w", b.name, err)
	}
	// A TestMain may work for a long time before the benchmarks; no profile covers that
	// time.
	if !use.Complete || prof.Start.Sub(use.Start) > lateProfile {
		use.Profiled, use.Faults, use.Sleeps, use.Cycles, use.Collector = 0, 0, 0, 0, 0
	}
	return res, use, nil
}

// lateProfile is more than package testing needs to start the CPU profile.
const lateProfile = 20 * time.Millisecond

// enough returns the number of operations for the planned CPU time of a timing pass,
// at most ten times as many as were run, and no more than the budget has room for. A pass of
// at least 60 % of that time is enough.
func (b *benchRun) enough(res ran) int64 {
	found, err := b.rec.results(b.planned.pkg, res.out)
	if err != nil || len(found) != 1 {
		return b.ops
	}
	// On a busy machine wall time passes without CPU time, and a heavy set-up takes CPU
	// time without operations. So the smaller value is used.
	used := min(found[0].nsPerOp*float64(b.ops), float64(res.cpu.Nanoseconds()))
	return moreOps(timed{b.ops, found[0].nsPerOp, used}, b.length, b.room()/time.Duration(b.rec.o.Count))
}

// fitRest sets the operations of the passes after the timing pass: where the machine is so busy
// that there is no room for them, they do a part of the work.
func (b *benchRun) fitRest(timing ran) {
	b.gc.ops = b.ops
	found, err := b.rec.results(b.planned.pkg, timing.out)
	if err != nil || len(found) != 1 {
		return
	}
	took := time.Duration(found[0].nsPerOp * float64(b.ops))
	part := partFor(b.room()/time.Duration(b.rec.o.Count), took)
	b.gc.ops, b.allocOps = max(int64(part*float64(b.ops)), 1), max(int64(part*float64(b.allocOps)), 1)
}

// benchText returns the output with a package line, which a test binary run by itself
// may not print, and without heaptrim's own benchmark.
func (b *benchRun) benchText(out []byte) []byte {
	var text []byte
	if !bytes.HasPrefix(out, []byte("pkg: ")) && !bytes.Contains(out, []byte("\npkg: ")) {
		text = append(text, "pkg: "+b.tested().ImportPath+"\n"...)
	}
	for line := range bytes.Lines(out) {
		if !bytes.HasPrefix(line, []byte(flushBenchmark)) {
			text = append(text, line...)
		}
	}
	return text
}

func (b *benchRun) keepText(p evidence.Part, text []byte) error {
	return b.rec.w.Add(b.id, p, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// allocation runs with every allocation recorded, or, where one operation makes too many, with samples of them.
func (b *benchRun) allocation(ctx context.Context) error {
	b.allow(leastCounting)
	if !b.tested().recorder {
		return b.plainAllocation(ctx)
	}
	dir, err := os.MkdirTemp(b.rec.tmp, "rec-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rate := b.allocRate()
	env := recorder.Env(dir, recorder.Options{MemRate: rate, Auto: true, GCAtExit: true, HeapSnap: time.Hour, Metrics: -1,
		GODEBUG: os.Getenv("GODEBUG")})
	res, err := b.runOne(ctx, testRun{args: b.args(b.allocOps, flushBenchmark), env: env})
	if err != nil {
		return err
	}
	files, err := recorder.Files(dir)
	if err != nil {
		return err
	}
	if len(files.Files.Heap) == 0 {
		return errors.New("the recorder left no allocation profile")
	}
	p := b.part(evidence.Part{Path: "allocs.pprof", Kind: evidence.KindAllocs, Pass: evidence.PassAllocation,
		Ops: b.spanned()}, res)
	p.Rate, p.Raw = rate, true
	return b.rec.w.Adopt(b.id, p, files.Files.Heap[len(files.Files.Heap)-1])
}

// plainAllocation is the fallback without the recorder.
func (b *benchRun) plainAllocation(ctx context.Context) error {
	mem := filepath.Join(b.rec.tmp, "mem.pprof")
	rate := b.allocRate()
	res, err := b.runOne(ctx, testRun{args: append(b.args(b.allocOps, ""), "-test.memprofile="+mem,
		fmt.Sprintf("-test.memprofilerate=%d", rate))})
	if err != nil {
		return err
	}
	p := b.part(evidence.Part{Path: "allocs.pprof", Kind: evidence.KindAllocs, Pass: evidence.PassAllocation,
		Ops: b.spanned()}, res)
	p.Rate = rate
	return b.rec.w.Adopt(b.id, p, mem)
}

// spanned is how many operations the profile of the allocation pass spans. For a count of operations package
// testing runs one first, and then all of them; a benchmark that loops by b.Loop it runs once.
func (b *benchRun) spanned() int64 {
	top, _, _ := strings.Cut(b.name, "/")
	if b.allocOps == 1 || b.tested().source.runsOnce(top) {
		return b.allocOps
	}
	return b.allocOps + 1
}

// liveRate is the sampling rate of the collector pass. It is fine enough for a small
// live heap, and at 1 GB/s of allocation it costs 2 % of a core.
const liveRate = 64 << 10

// collector repeats the timing pass's operations, or a part of them, with the collector's own log and
// takes heap profiles.
func (b *benchRun) collector(ctx context.Context) error {
	debug := host.JoinDebug(os.Getenv("GODEBUG"), "gctrace=1,gcpacertrace=1")
	env := []string{"GODEBUG=" + debug}
	dir, err := os.MkdirTemp(b.rec.tmp, "rec-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if b.tested().recorder {
		env = recorder.Env(dir, recorder.Options{MemRate: liveRate, Auto: true, HeapSnap: 100 * time.Millisecond,
			Metrics: -1, GODEBUG: debug})
	}
	// The recorder's goroutine must have ended when a TestMain looks for leaks.
	also := ""
	if b.tested().recorder {
		also = flushBenchmark
	}
	res, err := b.runOne(ctx, testRun{args: b.args(b.gc.ops, also), env: env})
	if err != nil {
		return err
	}
	// The text comes first: it tells which cycles of the log belong to the benchmark.
	if err := b.keepText(b.part(evidence.Part{Path: "gc.txt", Kind: evidence.KindBench, Pass: evidence.PassCollector,
		Ops: b.gc.ops}, res), b.benchText(res.out)); err != nil {
		return err
	}
	if err := b.keepText(b.part(evidence.Part{Path: "gctrace.txt", Kind: evidence.KindGCTrace,
		Pass: evidence.PassCollector, Ops: b.gc.ops}, res), res.err); err != nil {
		return err
	}
	found, err := b.rec.results(b.planned.pkg, res.out)
	if err != nil {
		return err
	}
	if b.gc.log, b.gc.took = res.err, 0; len(found) == 1 {
		b.gc.took = time.Duration(found[0].nsPerOp * float64(b.gc.ops))
	}
	if !b.tested().recorder {
		return nil
	}
	files, err := recorder.Files(dir)
	if err != nil {
		return err
	}
	for i, f := range files.Files.Heap {
		p := b.part(evidence.Part{Path: fmt.Sprintf("heap-%02d.pprof", i), Kind: evidence.KindHeap,
			Pass: evidence.PassCollector, Rate: liveRate, Raw: true}, res)
		if err := b.rec.w.Adopt(b.id, p, f); err != nil {
			return err
		}
	}
	return nil
}

// withUse adds what the process used, as the recorder reports it.
func withUse(p evidence.Part, use recorder.Result) evidence.Part {
	p.Profiled, p.MinorFaults, p.Sleeps, p.Cycles, p.Collector = use.Profiled, use.Faults, use.Sleeps, use.Cycles,
		use.Collector
	return p
}
