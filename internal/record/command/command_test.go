package command

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

// batchSource is a program that works for a while and ends with os.Exit.
const batchSource = `package main

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	fmt.Println("working")
	d, _ := time.ParseDuration(os.Args[1])
	n := 0
	for begin := time.Now(); time.Since(begin) < d; {
		n += len(churn(1000))
	}
	// The runtime prints its lines in pieces; this line must not end up between them.
	debug.SetGCPercent(-1)
	for range [5]int{} { // if the machine stalls, only one of them passes
		time.Sleep(40 * time.Millisecond)
	}
	fmt.Fprintln(os.Stderr, "worked")
	if len(os.Args) > 2 {
		os.Exit(7)
	}
}

func churn(n int) string { return strings.Repeat("x", n) + strings.Repeat("y", n) }
`

// serverSource is a service. With -load the same program is its load: it makes
// requests for a time and at least a given number of them, unless it is interrupted.
const serverSource = `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	if os.Args[1] == "-load" {
		load(os.Args[2], os.Args[3], os.Args[4])
		return
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat("x", 10000))
	})
	if err := http.ListenAndServe(os.Args[1], nil); err != nil {
		panic(err)
	}
}

func load(url, length, least string) {
	d, _ := time.ParseDuration(length)
	few, _ := strconv.Atoi(least)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	n := 0
	for begin := time.Now(); len(stop) == 0 && (time.Since(begin) < d || n < few); n++ {
		resp, err := http.Get(url)
		if err != nil {
			panic(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	fmt.Printf("  %d requests in 1.00s, 1MB read\n", n)
}
`

// execute records into a new bundle and opens it.
func execute(ctx context.Context, t *testing.T, o Options) (*bundle.Bundle, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	w, err := bundle.Create(dir, evidence.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	if o.Progress == nil {
		o.Progress = t.Logf
	}
	execErr := Record(ctx, o, w)
	if err := w.Close(execErr == nil); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, execErr
}

// allocatedBelow sums alloc_space below a function in a heap part.
func allocatedBelow(t *testing.T, b *bundle.Bundle, p evidence.Part, function string) (sum int64) {
	t.Helper()
	f, err := os.Open(b.Path(p))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	prof, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range prof.Sample {
		for _, l := range s.Location {
			if slices.ContainsFunc(l.Line, func(l profile.Line) bool { return l.Function.Name == function }) {
				sum += s.Value[1]
				break
			}
		}
	}
	return sum
}

func TestExecBatch(t *testing.T) {
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/batch\n\ngo 1.21\n", "cmd/b/main.go", batchSource)
	var said strings.Builder
	b, err := execute(context.Background(), t,
		Options{Dir: dir, Package: "./cmd/b", Args: []string{"1200ms", "x", "-token", "sesame"}, Stderr: &said})
	if !errors.Is(err, ErrProgramFailed) || !strings.Contains(err.Error(), "exit status 7") {
		t.Fatalf("got error %v, want the program's exit status", err)
	}
	m := b.Manifest
	if m.Target.Kind != evidence.TargetExec || m.Target.Module != "example.com/batch" || m.Target.ModuleDir == "" ||
		!slices.Equal(m.Target.Packages, []string{"example.com/batch/cmd/b"}) {
		t.Errorf("target = %+v", m.Target)
	}
	if want := []string{"./cmd/b", "1200ms", "x", "-token", "xxxxx"}; !slices.Equal(m.Target.Args, want) {
		t.Errorf("args = %q, want %q", m.Target.Args, want)
	}
	if m.Environment.GoVersion != runtime.Version() || m.Environment.GOGC == "" {
		t.Errorf("environment = %+v", m.Environment)
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "exit status 7") {
		t.Errorf("warnings = %q, want the exit status", m.Warnings)
	}
	if said.String() != "worked\n" {
		t.Errorf("stderr = %q: it should have the program's own text only", said.String())
	}
	heap := recordtest.PartsOf(b, evidence.PassTiming, evidence.KindHeap)
	if len(heap) < 2 {
		t.Fatalf("%d heap snapshots", len(heap))
	}
	last := heap[len(heap)-1]
	if got := allocatedBelow(t, b, last, "main.churn"); got < 10<<20 || !last.Raw || last.Rate != 512<<10 ||
		last.Wall < 1200*time.Millisecond {
		t.Errorf("churn allocated %d bytes in %+v", got, last)
	}
	for _, kind := range []evidence.Kind{evidence.KindCPU, evidence.KindMetrics, evidence.KindGCTrace} {
		if len(recordtest.PartsOf(b, evidence.PassTiming, kind)) == 0 {
			t.Errorf("no part of kind %s", kind)
		}
	}
	text, err := os.ReadFile(b.Path(recordtest.PartsOf(b, evidence.PassTiming, evidence.KindGCTrace)[0]))
	if err != nil || !strings.HasPrefix(string(text), "pacer:") && !strings.HasPrefix(string(text), "gc ") ||
		strings.Contains(string(text), "(forced)") {
		t.Errorf("gctrace, error %v:\n%.300s", err, text)
	}
}

// freeAddress finds a port that nobody listens on. It is below the range from which
// systems assign ports, because such a port may be taken before it is used.
func freeAddress(t *testing.T) string {
	t.Helper()
	var err error
	for range 100 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(10_000))); err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Skip(err)
	return ""
}

func TestExecLoad(t *testing.T) {
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/server\n\ngo 1.21\n", "main.go", serverSource)
	bin := filepath.Join(t.TempDir(), "load.exe")
	if _, err := (gocmd.Tool{Dir: dir}).Output(context.Background(), "build", "-o", bin, "."); err != nil {
		t.Fatal(err)
	}
	addr := freeAddress(t)
	begin := time.Now()
	b, err := execute(context.Background(), t, Options{
		Dir: dir, Package: ".", Args: []string{addr}, Ready: "http://" + addr + "/x",
		Load: fmt.Sprintf("%s -load http://%s/ 1500ms 1000", bin, addr),
	})
	took := time.Since(begin)
	if err != nil {
		t.Fatal(err)
	}
	if m := b.Manifest; len(m.Warnings)+len(m.LeftOut)+len(m.Gaps) > 0 {
		t.Errorf("warnings %q, left out %q, gaps %q", m.Warnings, m.LeftOut, m.Gaps)
	}
	for _, pass := range []string{evidence.PassTiming, evidence.PassAllocation} {
		heap := recordtest.PartsOf(b, pass, evidence.KindHeap)
		if len(heap) < 2 {
			t.Fatalf("%s: %d heap snapshots", pass, len(heap))
		}
		first, last := heap[0], heap[len(heap)-1]
		if last.Ops < 50 || first.Ops != 0 || last.Wall < 1400*time.Millisecond || last.Wall > took {
			t.Errorf("%s: %+v", pass, last)
		}
		if runtime.GOOS == "linux" && (last.CPU == 0 || last.PeakRSS < 1<<20) {
			t.Errorf("%s: CPU %v, peak %d", pass, last.CPU, last.PeakRSS)
		}
		if pass != evidence.PassAllocation {
			continue
		}
		// Every request allocates 10 kB in strings.Repeat; the fine rate measures that well.
		got := allocatedBelow(t, b, last, "strings.Repeat") - allocatedBelow(t, b, first, "strings.Repeat")
		want := last.Ops * 10240
		if f := float64(got) / float64(want); f < 0.8 || f > 1.25 {
			t.Errorf("%d requests allocated %d bytes in strings.Repeat at rate %d, want about %d", last.Ops, got,
				last.Rate, want)
		}
		if last.Rate >= 512<<10 {
			t.Errorf("rate %d is not fine", last.Rate)
		}
	}
	alone := recordtest.PartsOf(b, evidence.PassCollector, evidence.KindMetrics)
	if len(alone) != 1 || runtime.GOOS == "linux" && (alone[0].PeakRSS < 1<<20 || alone[0].OwnLive <= 0 ||
		alone[0].OwnLive > 1<<20 || alone[0].OwnResident > 5<<20) {
		t.Errorf("the unprofiled run: %+v", alone)
	}
	load := recordtest.PartsOf(b, evidence.PassTiming, evidence.KindLoad)
	if len(load) != 1 || load[0].Ops == 0 {
		t.Errorf("load parts: %+v", load)
	}
	sum := time.Duration(0)
	for _, p := range recordtest.PartsOf(b, evidence.PassTiming, evidence.KindCPU) {
		sum += p.Wall
	}
	if sum < time.Second {
		t.Errorf("the CPU profile covers %v", sum)
	}
}

func TestExecInterrupted(t *testing.T) {
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/batch\n\ngo 1.21\n", "main.go", batchSource)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{Dir: dir, Package: ".", Args: []string{"1h"}, Stdout: onWrite(cancel)}
	b, err := execute(ctx, t, o)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v, want it cancelled", err)
	}
	if b.Manifest.Complete {
		t.Error("the bundle is marked complete")
	}
	if len(recordtest.PartsOf(b, evidence.PassTiming, evidence.KindHeap)) < 2 {
		t.Errorf("parts: %+v", b.Manifest.Runs)
	}
}

// TestExecInterruptedUnderLoad interrupts the first and the last run. An interrupt in the
// first leaves the others and the requested trace as gaps; one in the last keeps what that
// run has recorded.
func TestExecInterruptedUnderLoad(t *testing.T) {
	o := loadedServer(t, "1h 1") // until it is interrupted
	o.For = 1500 * time.Millisecond
	f := func(pass string, trace time.Duration, lacks int) {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		o := o
		o.Trace = trace
		o.Progress = func(format string, args ...any) {
			if text := fmt.Sprintf(format, args...); strings.HasPrefix(text, pass+" pass: recording") {
				cancel()
			}
		}
		b, err := execute(ctx, t, o)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: got error %v, want it cancelled", pass, err)
		}
		if len(recordtest.PartsOf(b, pass, evidence.KindHeap)) < 2 || len(b.Manifest.Gaps) != lacks {
			t.Errorf("%s: runs %+v, lacks %+v, want %d", pass, b.Manifest.Runs, b.Manifest.Gaps, lacks)
		}
	}
	f(evidence.PassTiming, 0, 2)
	f(evidence.PassTiming, time.Second, 3)
	f(evidence.PassAllocation, 0, 0)
	f(evidence.PassAllocation, 300*time.Millisecond, 0)
}

// onWrite is called when something is written.
type onWrite func()

func (f onWrite) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

func TestExecFails(t *testing.T) {
	dir := recordtest.WriteTree(t,
		"go.mod", "module example.com/m\n\ngo 1.21\n",
		"lib/lib.go", "package lib\n",
		"bad/main.go", "package main\n\nfunc main() { undefined() }\n",
		"gone/main.go", "package main\n\nfunc main() { println(\"no config\") }\n",
	)
	f := func(o Options, want ...string) {
		t.Helper()
		o.Dir = dir
		_, err := execute(context.Background(), t, o)
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: got error %v, want %q in it", o, err, w)
			}
		}
	}
	f(Options{}, "no package")
	f(Options{Package: "./lib"}, "needs one main package")
	f(Options{Package: "./..."}, "names 3 packages")
	f(Options{Package: "./nowhere"}, "nowhere")
	f(Options{Package: "./bad"}, "undefined: undefined", "main.go:3")
	f(Options{Package: "./gone", Ready: "http://127.0.0.1:1/", Load: "true"}, "the program ended", "no config")
}

// proxy makes a module proxy with one module version in a folder and points the go
// command at it. files alternates names and contents.
func proxy(t *testing.T, module, version string, files ...string) {
	t.Helper()
	root := t.TempDir()
	at := filepath.Join(root, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(module + "@" + version + "/" + files[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
		if files[i] == "go.mod" {
			if err := os.WriteFile(filepath.Join(at, version+".mod"), []byte(files[i+1]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{version + ".info": fmt.Sprintf(`{"Version":%q}`, version),
		"list": version + "\n"} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	slash := filepath.ToSlash(root)
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash
	}
	t.Setenv("GOPROXY", "file://"+slash)
	t.Setenv("GOSUMDB", "off")
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	t.Cleanup(func() { // the go command makes it read-only
		filepath.WalkDir(cache, func(p string, _ os.DirEntry, _ error) error { return os.Chmod(p, 0o755) })
	})
}

func TestExecReleased(t *testing.T) {
	proxy(t, "example.com/tool", "v1.2.3",
		"go.mod", "module example.com/tool\n\ngo 1.21\n\nreplace example.com/near => ../near\n",
		"cmd/b/main.go", batchSource)
	cache := t.TempDir()
	for range 2 { // the second time, the copy exists
		b, err := execute(context.Background(), t,
			Options{Package: "example.com/tool/cmd/b@v1.2.3", Args: []string{"200ms"}, CacheDir: cache})
		if err != nil {
			t.Fatal(err)
		}
		m := b.Manifest.Target
		if m.Module != "example.com/tool" || !isBelow(m.ModuleDir, cache) ||
			!isFile(filepath.Join(m.ModuleDir, "cmd", "b", "main.go")) {
			t.Errorf("target = %+v", m)
		}
		if len(recordtest.PartsOf(b, evidence.PassTiming, evidence.KindHeap)) == 0 {
			t.Error("no heap profile")
		}
	}
	_, err := execute(context.Background(), t, Options{Package: "example.com/tool/cmd/c@v1.2.3", CacheDir: cache})
	if err == nil || !strings.Contains(err.Error(), "no package example.com/tool/cmd/c") {
		t.Errorf("got error %v, want one that names the package", err)
	}
}

func TestExecDependency(t *testing.T) {
	proxy(t, "example.com/tool", "v1.2.3", "go.mod", "module example.com/tool\n\ngo 1.21\n", "go.work", "go 1.21\n\nuse .\n",
		"cmd/b/main.go", batchSource)
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/user\n\ngo 1.21\n\nrequire example.com/tool v1.2.3\n",
		"tools.go", "//go:build tools\n\npackage user\n\nimport _ \"example.com/tool/cmd/b\"\n")
	tool := gocmd.Tool{Dir: dir}
	if _, err := tool.Output(context.Background(), "mod", "download", "example.com/tool"); err != nil {
		t.Fatal(err)
	}
	if _, err := tool.Output(context.Background(), "mod", "tidy"); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, "go.mod"))
	cache := t.TempDir()
	b, err := execute(context.Background(), t,
		Options{Dir: dir, Package: "example.com/tool/cmd/b", Args: []string{"200ms"}, CacheDir: cache})
	if err != nil {
		t.Fatal(err)
	}
	m := b.Manifest.Target
	if m.Module != "example.com/tool" || !isBelow(m.ModuleDir, cache) {
		t.Errorf("target = %+v", m)
	}
	// Reports read the source later, with the flags of the recording.
	if _, err := (gocmd.Tool{Dir: m.ModuleDir, Flags: m.BuildFlags}).MainPackage(context.Background(), m.Packages[0]); err != nil {
		t.Errorf("the package cannot be read when the recording has ended: %v", err)
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "go.mod")); string(after) != string(before) {
		t.Errorf("the user's go.mod was changed:\n%s", after)
	}
}

func TestCommandName(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		if got := strings.TrimSuffix(commandName(path), ".exe"); got != want {
			t.Errorf("commandName(%q) = %q, want %q", path, got, want)
		}
	}
	f("example.com/a/cmd/server", "server")
	f("github.com/nats-io/nats-server/v2", "nats-server")
	f("example.com/v2x", "v2x")
	f("v2", "v2")
}

func TestFineRate(t *testing.T) {
	f := func(allocRate float64, want int64) {
		t.Helper()
		if got := fineRate(allocRate); got != want {
			t.Errorf("fineRate(%g) = %d, want %d", allocRate, got, want)
		}
	}
	f(0, 16<<10)
	f(1e6, 1<<10)
	f(100e6, 8<<10)
	f(1e9, 64<<10)
	f(1e12, 512<<10)
}

func TestWithoutForced(t *testing.T) {
	const own = "gc 1 @0.1s 1%: x\npacer: a\ngc 2 @0.2s 1%: y (forced)\n"
	f := func(in, want string) {
		t.Helper()
		if got := string(withoutForced([]byte(in), 2)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	f(own+"pacer: b\ngc 3 @0.3s: z (forced)\npacer: c\ngc 4 @0.4s: z (forced)\n", own+"pacer: b\n")
	f("gc 1 @0.1s: x\n", "gc 1 @0.1s: x\n")
	f("", "")
}

func TestWindowLog(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	l := &windowLog{file: file}
	write := func(s string) {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	write("before\nhalf ")
	l.gate(true)
	write("of it\nin")
	write("side\n")
	write("la")
	l.gate(false)
	write("st\nafter\n")
	got, err := os.ReadFile(file.Name())
	if want := "inside\nlast\n"; string(got) != want || err != nil {
		t.Errorf("got %q, want %q", got, want)
	}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
