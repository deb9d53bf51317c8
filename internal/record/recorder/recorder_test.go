package recorder_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/cyclecost"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// toolchains lists Go toolchains of target programs; "" is the one that runs the test.
func toolchains() []string { return []string{"", "go1.25.13", "go1.26.8", "go1.27.4"} }

func TestRender(t *testing.T) {
	for _, pkg := range []string{"main", "foo_test"} {
		src := recorder.Render(pkg)
		if formatted, err := format.Source(src); err != nil || string(formatted) != string(src) {
			t.Errorf("Render(%q) is not formatted: %v", pkg, err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), "r.go", src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name.Name != pkg {
			t.Errorf("Render(%q) is in package %s", pkg, f.Name.Name)
		}
		for _, name := range declared(f) {
			if !strings.HasPrefix(name, evidence.RecorderPrefix) {
				t.Errorf("Render(%q) declares %s, want the prefix %s", pkg, name, evidence.RecorderPrefix)
			}
		}
	}
}

// declared lists the names that f declares at file or package level.
func declared(f *ast.File) (names []string) {
	for _, s := range f.Imports {
		if s.Name == nil {
			names = append(names, s.Path.Value)
		} else {
			names = append(names, s.Name.Name)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				names = append(names, specNames(spec)...)
			}
		}
	}
	return names
}

func specNames(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		names = append(names, s.Name.Name)
	case *ast.ValueSpec:
		for _, n := range s.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// build builds the worker with the recorder, in a module with an old language version.
// It skips the test if the toolchain is not available.
func build(t *testing.T, toolchain string) string {
	t.Helper()
	dir := t.TempDir()
	worker, err := os.ReadFile("testdata/worker.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"go.mod": []byte("module worker\n\ngo 1.16\n"), "worker.go": worker, "recorder.go": recorder.Render("main"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gocmd := func(args ...string) ([]byte, error) {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		if toolchain != "" {
			cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+toolchain)
		}
		return cmd.CombinedOutput()
	}
	if out, err := gocmd("version"); err != nil {
		t.Skipf("toolchain %s is not available here: %v\n%s", toolchain, err, out)
	}
	bin := filepath.Join(dir, "worker.exe")
	if out, err := gocmd("build", "-o", bin, "."); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	if out, err := gocmd("vet", "."); err != nil {
		t.Errorf("go vet: %v\n%s", err, out)
	}
	return bin
}

// run runs the worker to its end.
func run(t *testing.T, bin string, env []string, args ...string) *os.ProcessState {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("worker: %v\n%s", err, out)
	}
	if len(out) > 0 {
		t.Logf("worker output: %s", out)
	}
	return cmd.ProcessState
}

// files returns the recorded files and checks that each is complete.
func files(t *testing.T, dir string) recorder.Result {
	t.Helper()
	r, err := recorder.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(r.Files.Heap, r.Files.CPUParts...) {
		open(t, name)
	}
	f, err := os.Open(r.Files.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := 0
	for s := bufio.NewScanner(f); s.Scan(); lines++ {
		var v struct {
			T int64              `json:"t_ns"`
			V map[string]float64 `json:"v"`
		}
		if err := json.Unmarshal(s.Bytes(), &v); err != nil || len(v.V) < 20 {
			t.Fatalf("%s:%d: %d values, error %v", r.Files.Metrics, lines+1, len(v.V), err)
		}
		if rss := v.V[evidence.MetricRSS]; runtime.GOOS == "linux" && (rss < 1<<20 || rss > 1<<30) {
			t.Errorf("%s:%d: a resident set of %v bytes", r.Files.Metrics, lines+1, rss)
		}
	}
	if lines == 0 {
		t.Errorf("%s is empty", r.Files.Metrics)
	}
	return r
}

func open(t *testing.T, name string) *profile.Profile {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := p.CheckValid(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return p
}

// frames returns the functions of a sample, leaf first.
func frames(s *profile.Sample) (names []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			names = append(names, line.Function.Name)
		}
	}
	return names
}

func TestRecord(t *testing.T) {
	for _, toolchain := range toolchains() {
		t.Run("toolchain="+toolchain, func(t *testing.T) {
			bin := build(t, toolchain)
			dir := t.TempDir()
			env := recorder.Env(dir, recorder.Options{MemRate: 1, Auto: true, CPU: true, GC: true,
				HeapSnap: 20 * time.Millisecond})
			worker := run(t, bin, env, "return", "600ms")
			if code := worker.ExitCode(); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			r := files(t, dir)
			if !r.Complete || !r.Exit || !r.Files.Forced || r.MemRate != 1 || r.Wall < 600*time.Millisecond ||
				len(r.Files.Heap) < 3 || len(r.Files.CPUParts) == 0 {
				t.Errorf("recorded %+v", r)
			}
			// The system's figure includes the time before and after the window.
			all, sampled := worker.UserTime()+worker.SystemTime(), sampledCPU(t, r)
			if runtime.GOOS == "linux" &&
				(r.CPU <= 0 || r.CPU < sampled*7/10-20*time.Millisecond || r.CPU > all+20*time.Millisecond) {
				t.Errorf("process CPU = %v, sampled %v, of %v by the system", r.CPU, sampled, all)
			}
			if runtime.GOOS == "linux" &&
				(r.Profiled > r.CPU || r.Profiled <= 0 || r.Faults <= 0 || r.Sleeps <= 0 || r.Cycles <= 0 ||
					r.Collector <= 0) { // the runtime estimates its share from the clock
				t.Errorf("%v, %d faults, %d sleeps and %d collections of %v while profiled, of %v", r.Profiled,
					r.Faults, r.Sleeps, r.Cycles, r.Collector, r.CPU)
			}
			checkAllocs(t, open(t, r.Files.Heap[len(r.Files.Heap)-1]))
			rec, err := recorder.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			e := rec.Environment
			if !strings.HasPrefix(e.GoVersion, "go1.") || toolchain != "" && e.GoVersion != toolchain ||
				e.GOMAXPROCS == 0 || e.GOGC != "100" || e.GOMEMLIMIT != "off" {
				t.Errorf("environment = %+v", e)
			}
			if len(rec.Notes) > 0 {
				t.Errorf("notes: %q", rec.Notes)
			}
		})
	}
}

// TestPaces checks that the two GOGC values alternate in long enough stretches and
// that the program ends with its own GOGC.
func TestPaces(t *testing.T) {
	for _, toolchain := range toolchains() {
		t.Run("toolchain="+toolchain, func(t *testing.T) {
			bin := build(t, toolchain)
			dir := t.TempDir()
			env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1, Paces: 3})
			if code := run(t, bin, append(env, "GOGC=50"), "return", "1s").ExitCode(); code != 0 {
				t.Fatalf("exit code %d", code)
			}
			r, err := recorder.Files(dir)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(r.Files.Paces)
			if err != nil {
				t.Fatal(err)
			}
			var last cyclecost.Reading
			all, err := cyclecost.Read(r.Files.Paces, bytes.NewReader(text))
			if err != nil || len(all) < 9 {
				t.Fatalf("%d readings, %v:\n%s", len(all), err, text)
			}
			for i, now := range all {
				want := int64(50)
				if i%4 == 3 || i > 0 && i%4 == 0 {
					want = 150
				}
				if now.GOGC != want || i > 0 &&
					(now.At-last.At < recorder.LeastStretch || now.Cycles == last.Cycles || now.Bytes == last.Bytes) {
					t.Errorf("reading %d: %+v after %+v, want GOGC=%d", i, now, last, want)
				}
				if runtime.GOOS == "linux" && i > 0 && now.CPU <= last.CPU {
					t.Errorf("reading %d: no processor time after %+v", i, last)
				}
				last = now
			}
		})
	}
}

// TestPacesLimited checks that GOGC stays unchanged, with a note, if a memory limit
// also sets the heap goal.
func TestPacesLimited(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	env := recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: -1, Metrics: -1, Paces: 3})
	run(t, bin, append(env, "GOMEMLIMIT=1GiB"), "return", "50ms")
	rec, err := recorder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Windows) != 1 || rec.Windows[0].Files.Paces != "" || len(rec.Notes) != 1 ||
		!strings.Contains(rec.Notes[0], "GOGC alone") {
		t.Errorf("recorded %+v", rec)
	}
}

// sampledCPU returns the CPU time in the CPU profile of r.
func sampledCPU(t *testing.T, r recorder.Result) (sum time.Duration) {
	t.Helper()
	for _, name := range r.Files.CPUParts {
		for _, s := range open(t, name).Sample {
			sum += time.Duration(s.Value[1])
		}
	}
	return sum
}

// checkAllocs compares the profile with what the worker does: objects of box have 16
// bytes each, the stack of deep is complete from root to leaf, and no stack is the
// recorder's own.
func checkAllocs(t *testing.T, p *profile.Profile) {
	t.Helper()
	if len(p.SampleType) != 4 || p.SampleType[1].Type != "alloc_space" || p.Period != 1 ||
		p.PeriodType.Type != "space" {
		t.Errorf("types %v, period %d %v", p.SampleType, p.Period, p.PeriodType)
	}
	var boxes, bytes, grown int64
	deepest := 0
	for _, s := range p.Sample {
		names := frames(s)
		text := strings.Join(names, " ")
		if strings.Contains(text, evidence.RecorderPrefix) {
			t.Errorf("a stack of the recorder itself: %s", text)
		}
		// A goroutine that has to wait while it starts, helps or ends a collection allocates a
		// sudog, which is the runtime's own object.
		if strings.Contains(text, "main.box") && !strings.Contains(text, "runtime.gc") {
			boxes, bytes = boxes+s.Value[0], bytes+s.Value[1]
		}
		if strings.Contains(text, "main.grow") {
			grown += s.Value[1]
		}
		if n := strings.Count(text, "main.deep"); n > 0 {
			deepest = max(deepest, n)
			if names[len(names)-1] != "runtime.goexit" {
				t.Errorf("a deep stack was cut at %s", names[len(names)-1])
			}
		}
	}
	if boxes == 0 || bytes != 16*boxes {
		t.Errorf("box allocated %d objects of %d bytes together, want 16 each", boxes, bytes)
	}
	if deepest != 61 {
		t.Errorf("main.deep is %d times in its stack, want 61", deepest)
	}
	// 200 ints grow through 8, 16, 32, 64, 128, 256, 512, 848, 1280, 1792. The exact steps
	// are up to the runtime.
	if perCall := grown / boxes; perCall < 1600 || perCall > 8000 {
		t.Errorf("grow allocated %d bytes a call", perCall)
	}
}

// TestRuntimeFrames checks for the runtime frames that runtime/pprof drops: they are
// why the recorder writes its own profile.
func TestRuntimeFrames(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	run(t, bin, recorder.Env(dir, recorder.Options{MemRate: 1, Auto: true, GC: true}), "return", "100ms")
	r := files(t, dir)
	leaf := map[string]bool{}
	for _, s := range open(t, r.Files.Heap[len(r.Files.Heap)-1]).Sample {
		names := frames(s)
		for i, n := range names {
			if n == "main.grow" && i > 0 {
				leaf[names[i-1]] = true
			}
		}
	}
	if !leaf["runtime.growslice"] {
		t.Errorf("above main.grow there is %v, want runtime.growslice", leaf)
	}
}

// TestManyDeepStacks: the many stacks of a recursion keep the frames next to the allocation, and all objects count.
func TestManyDeepStacks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, build(t, ""), recorder.Env(dir, recorder.Options{Auto: true, MemRate: 1, GCAtExit: true, HeapSnap: time.Hour}), "recursive", "0s")
	r := files(t, dir)
	heap := r.Files.Heap
	if len(heap) == 0 {
		t.Fatal("no allocation profile")
	}
	// While it writes a profile it allocates more than that, which is not to be recorded: each takes a stack.
	if own := r.Own.Allocated; own > 2<<20 {
		t.Errorf("%d bytes of the recorder's own are in the profile", own)
	}
	made, deepest := int64(0), 0
	for _, s := range open(t, heap[len(heap)-1]).Sample {
		if n := strings.Count(strings.Join(frames(s), " "), "main.wide"); n > 0 {
			made, deepest = made+s.Value[0], max(deepest, n)
		}
	}
	if made != 2048 || deepest < 20 || deepest > 32 {
		t.Errorf("%d objects, want 2048, with stacks of up to %d calls", made, deepest)
	}
}

func TestExitFlushes(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	if code := run(t, bin, recorder.Env(dir, recorder.Options{Auto: true, CPU: true, GCAtExit: true}), "exit",
		"300ms").ExitCode(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	if r := files(t, dir); !r.Complete || !r.Exit || !r.Files.Forced {
		t.Errorf("recorded %+v", r)
	}
}

func TestIdleWithoutVariable(t *testing.T) {
	bin := build(t, "")
	if code := run(t, bin, nil, "return", "10ms").ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	// A missing directory must not disturb the program.
	if code := run(t, bin, recorder.Env(filepath.Join(t.TempDir(), "gone"), recorder.Options{Auto: true}), "return",
		"10ms").ExitCode(); code != 0 {
		t.Errorf("exit code %d with a directory that is not there", code)
	}
}

func TestChildDoesNotRecord(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	run(t, bin, recorder.Env(dir, recorder.Options{Auto: true}), "parent", "200ms")
	r := files(t, dir)
	if !r.Complete || r.Wall < 200*time.Millisecond {
		t.Errorf("recorded %+v, want the parent's run", r)
	}
}

func TestProgramsOwnProfile(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	own := filepath.Join(t.TempDir(), "own.pprof")
	stop := filepath.Join(t.TempDir(), "stop")
	cmd := exec.Command(bin, "profiled", "300ms", own, stop)
	cmd.Env = append(os.Environ(), recorder.Env(dir, recorder.Options{})...)
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	// The program's own profile must start first.
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "profiling\n" {
		t.Fatalf("the program says %q, %v", line, err)
	}
	within(t, func(ctx context.Context) error { return recorder.Start(ctx, dir, recorder.Options{CPU: true}) })
	if err := os.WriteFile(stop, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	rec, err := recorder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Notes) != 1 || !strings.Contains(rec.Notes[0], "its own") {
		t.Errorf("notes = %q, want one on the program's own profile", rec.Notes)
	}
	if p := open(t, own); len(p.Sample) == 0 {
		t.Error("the program's own profile is empty")
	}
	files(t, dir)
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
}

func within(t *testing.T, f func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := f(ctx); err != nil {
		t.Fatal(err)
	}
}

// patience is long because the event is certain, but the machine may be busy.
const patience = 10 * time.Minute

// eventually waits until ok returns true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
