package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

const (
	gctraceText = "server up\n" +
		"gc 1 @0.011s 2%: 0.014+0.47+0.003 ms clock, 0.11+0.10/0.40/0.12+0.029 ms cpu, 3->4->1 MB, 4 MB goal, 0 MB " +
		"stacks, 0 MB globals, 8 P\n"
	benchText = "goos: plan9\ngoarch: arm\npkg: example.com/m\ncpu: Old CPU\nBenchmarkX-2   \t     100\t     " +
		"12345 ns/op\nPASS\n"
	metricsText = `{"t_ns":1,"v":{"/gc/heap/allocs:bytes":1}}` + "\n"
	escapeText  = "# example.com/m\n./a.go:3:6: can inline f\n./a.go:4:9: &T{} escapes to heap\n"
)

// writeAt puts content in a file of a new directory.
func writeAt(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// recordFiles makes a bundle from files and opens it.
func recordFiles(t *testing.T, paths ...string) (*bundle.Bundle, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	w, err := bundle.Create(dir, evidence.Manifest{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	filesErr := Record(t.Context(), Options{Paths: paths}, w)
	if err := w.Close(filesErr == nil); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b, filesErr
}

// edited returns a copy of a pprof profile with changes.
func edited(t *testing.T, data []byte, edit func(*profile.Profile)) []byte {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	edit(p)
	var out bytes.Buffer
	if err := p.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func cpuBytes(t *testing.T) []byte {
	t.Helper()
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: &profile.ValueType{Type: "cpu",
			Unit: "nanoseconds"}, Period: 1e7, DurationNanos: 3e9, TimeNanos: 1e18,
	}
	var out bytes.Buffer
	if err := p.WriteUncompressed(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFilesKinds(t *testing.T) {
	heap := recordtest.ProfileBytes(t)
	plain, err := gzip.NewReader(bytes.NewReader(heap))
	if err != nil {
		t.Fatal(err)
	}
	uncompressed, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	inUseOnly := edited(t, heap, func(p *profile.Profile) {
		p.SampleType = p.SampleType[2:]
		for _, s := range p.Sample {
			s.Value = s.Value[2:]
		}
	})
	memstats := "heap profile: 1: 2 [3: 4] @ heap/1048576\n1: 2 [3: 4] @ 0x1\n#\t0x1\tmain.f+0x1\tgc.go:1\n\n# " +
		"runtime.MemStats\n# Alloc = 1\n# DebugGC = false\n"
	f := func(what string, content []byte, want ...evidence.Kind) {
		t.Helper()
		b, err := recordFiles(t, writeAt(t, "misleading.txt", content))
		if err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		var got []evidence.Kind
		for _, p := range b.Manifest.Runs[0].Parts {
			got = append(got, p.Kind)
			stored, err := os.ReadFile(b.Path(p))
			if p.Kind == evidence.KindMemStats && bytes.Contains(stored, []byte("gc.go")) ||
				p.Kind != evidence.KindMemStats && !bytes.Equal(stored, content) || err != nil {
				t.Errorf("%s: stored as %q, %v", what, stored, err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: kinds %q, want %q", what, got, want)
		}
	}
	f("allocs profile", heap, evidence.KindAllocs)
	f("uncompressed profile", uncompressed, evidence.KindAllocs)
	f("in-use profile", inUseOnly, evidence.KindHeap)
	f("cpu profile", cpuBytes(t), evidence.KindCPU)
	f("gctrace", []byte(gctraceText), evidence.KindGCTrace)
	f("gctrace behind much else", []byte(strings.Repeat("log line\n", 200_000)+strings.Repeat("x", 200_000)+"\n"+
		gctraceText), evidence.KindGCTrace)
	f("gctrace behind zero bytes", []byte("\x00\x00noise\n"+gctraceText), evidence.KindGCTrace)
	f("benchmark", []byte(benchText), evidence.KindBench)
	f("benchmark with gctrace", []byte(gctraceText+benchText), evidence.KindGCTrace, evidence.KindBench)
	f("metrics", []byte(metricsText), evidence.KindMetrics)
	f("memstats", []byte(memstats), evidence.KindMemStats)
	f("escapes", []byte(escapeText), evidence.KindEscapes)
	f("trace", []byte("go 1.26 trace\x00\x00\x00rest"), evidence.KindTrace)
	f("perf", []byte("PERFILE2rest"), evidence.KindPerf)
	f("perf script", []byte("# ========\n#\nmy prog 20528/20529 16487.543647:    2004008 cpu-clock:pppH: \n\t9ebf9 "+
		"main.fill (/srv/kv)\n\n"), evidence.KindPerf)
}

func TestFilesRefuses(t *testing.T) {
	heap := recordtest.ProfileBytes(t)
	var gzText bytes.Buffer
	gz := gzip.NewWriter(&gzText)
	io.WriteString(gz, strings.TrimPrefix(gctraceText, "server up\n"))
	gz.Close()
	f := func(content []byte, want ...string) {
		t.Helper()
		path := writeAt(t, "in", content)
		_, err := recordFiles(t, path)
		if err == nil {
			t.Errorf("Files(%.20q): no error", content)
			return
		}
		for _, text := range append(want, path) {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("Files(%.20q): error %q, want %q", content, err, text)
			}
		}
	}
	f(nil, "is empty")
	f([]byte("dear diary"), `begins with "dear diary"`)
	f([]byte("\x7fELF\x02\x01\x01\x00\n"+gctraceText), `\x7fELF`, "executable")
	f([]byte("PK\x03\x04\x00"), "PK", "zip archive")
	f([]byte("\x00\x01\x02\x03"), `\x00\x01`)
	f(heap[:len(heap)/2], "decompressed profile")
	raw := inflated(t, edited(t, heap, func(p *profile.Profile) {
		for i := range 200 { // so that the file is not too small, however little this process has allocated
			p.Comments = append(p.Comments, fmt.Sprint("comment ", i))
		}
	}))
	f(raw[:len(raw)/2], "decompressed profile", "offset")
	f(gzText.Bytes(), "gctrace log")
	f([]byte("\x28\xb5\x2f\xfdnot a frame"), "zstd")
	f([]byte("# runtime.MemStats\n# Alloc = 1\n"), "cut off")
	_, err := recordFiles(t)
	if err == nil {
		t.Error("no files: no error")
	}
	_, err = recordFiles(t, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "not a bundle") {
		t.Errorf("a plain directory: %v", err)
	}
	_, err = recordFiles(t, filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// inflated returns a profile without compression, as some tools write it.
func inflated(t *testing.T, profile []byte) []byte {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(profile))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestFilesLeavesOut(t *testing.T) {
	var goroutines bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&goroutines, 0); err != nil {
		t.Fatal(err)
	}
	other := writeAt(t, "goroutines.pprof", goroutines.Bytes())
	_, err := recordFiles(t, other)
	if err == nil || !strings.Contains(err.Error(), "goroutine/count") {
		t.Errorf("only a goroutine profile: %v", err)
	}
	log := writeAt(t, "gc.log", []byte(gctraceText))
	b, err := recordFiles(t, other, log, log, writeAt(t, "trace", []byte("go 1.26 trace\x00\x00\x00x")))
	if err != nil {
		t.Fatal(err)
	}
	m := b.Manifest
	if len(m.LeftOut) != 1 || !strings.Contains(m.LeftOut[0], other) {
		t.Errorf("left out: %q", m.LeftOut)
	}
	if len(m.Warnings) != 2 || !strings.Contains(m.Warnings[0], "counts once") ||
		!strings.Contains(m.Warnings[1], "execution-trace yet") {
		t.Errorf("warnings: %q", m.Warnings)
	}
}

func TestFilesFacts(t *testing.T) {
	b, err := recordFiles(t, writeAt(t, "a", []byte(gctraceText)), writeAt(t, "b", []byte(benchText)))
	if err != nil {
		t.Fatal(err)
	}
	want := evidence.Environment{GOOS: "plan9", GOARCH: "arm", CPUModel: "Old CPU", GOMAXPROCS: 8}
	if b.Manifest.Environment != want || b.Manifest.Target.Kind != evidence.TargetFiles {
		t.Errorf("manifest = %+v, want environment %+v", b.Manifest, want)
	}
}

// runNames lists the runs, each with its parts in order.
func runNames(b *bundle.Bundle) []string {
	var names []string
	for _, run := range b.Manifest.Runs {
		name := run.Name + ":"
		for _, p := range run.Parts {
			name += " " + filepath.Base(p.Path)
		}
		names = append(names, name)
	}
	return names
}

func TestFilesSnapshots(t *testing.T) {
	first := recordtest.ProfileBytes(t)
	sink := make([][]byte, 0, 200)
	for range 200 {
		sink = append(sink, make([]byte, 64<<10))
	}
	runtime.GC()
	runtime.GC()
	runtime.KeepAlive(sink)
	second := recordtest.ProfileBytes(t)
	early, late := writeAt(t, "z.pprof", first), writeAt(t, "a.pprof", second)
	b, err := recordFiles(t, late, writeAt(t, "cpu", cpuBytes(t)), early)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := runNames(b), []string{"files: cpu z.pprof a.pprof"}; !slices.Equal(got, want) {
		t.Errorf("runs = %q, want %q", got, want)
	}
	parts := b.Manifest.Runs[0].Parts
	if parts[0].Wall != 3*time.Second || parts[1].Wall != 0 || parts[2].Wall <= 0 || parts[2].Delta ||
		parts[2].Rate != int64(runtime.MemProfileRate) {
		t.Errorf("parts = %+v", parts)
	}

	f := func(what string, edit func(*profile.Profile), want ...string) {
		t.Helper()
		b, err := recordFiles(t, early, writeAt(t, "other", edited(t, second, edit)))
		if err != nil {
			t.Fatal(err)
		}
		if got := runNames(b); !slices.Equal(got, want) {
			t.Errorf("%s: runs = %q, want %q", what, got, want)
		}
		if apart := len(want) > 1; apart != (len(b.Manifest.Warnings) == 1) {
			t.Errorf("%s: warnings = %q", what, b.Manifest.Warnings)
		}
	}
	f("same", func(*profile.Profile) {}, "files: z.pprof other")
	f("a stack is gone", func(p *profile.Profile) { p.Sample = p.Sample[:len(p.Sample)/2] }, "files: z.pprof",
		"other: other")
	f("fewer allocations", func(p *profile.Profile) { p.Scale(0.5) }, "files: z.pprof", "other: other")
	f("another rate", func(p *profile.Profile) { p.Period *= 2 }, "files: z.pprof", "other: other")
	f("no time", func(p *profile.Profile) { p.TimeNanos = 0 }, "files: other", "z.pprof: z.pprof")
	f("a window", func(p *profile.Profile) { p.DurationNanos = 5e9 }, "files: other z.pprof")
}

func TestFilesMergesBundles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "old")
	env := evidence.Environment{GoVersion: "go1.26.8", GOGC: "50"}
	w, err := bundle.Create(dir, evidence.Manifest{
		Target: evidence.Target{Kind: evidence.TargetExec, Module: "example.com/m",
			Packages: []string{"example.com/m/cmd"}},
		Environment: env, Warnings: []string{"hot"}, LeftOut: []string{"cold"},
		Gaps: []evidence.Gap{{What: "the other run", Adds: "more"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	loops := []evidence.Loop{{File: "a.go", First: 1, Last: 9}}
	run := w.Run(evidence.Run{Name: "BenchmarkX", Loops: loops})
	part := evidence.Part{Path: "x/gc.txt", Kind: evidence.KindGCTrace, Pass: "gc", Ops: 5}
	err = w.Add(run, part, func(w io.Writer) error { _, err := io.WriteString(w, gctraceText); return err })
	if err = errors.Join(err, w.Close(false)); err != nil {
		t.Fatal(err)
	}
	packed := dir + ".tar.zst"
	if err := bundle.Pack(dir, packed); err != nil {
		t.Fatal(err)
	}
	b, err := recordFiles(t, writeAt(t, "b.txt", []byte(gctraceText)), packed, dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := runNames(b), []string{"files: b.txt", "BenchmarkX: gc.txt",
		"BenchmarkX: gc.txt"}; !slices.Equal(got, want) {
		t.Errorf("runs = %q, want %q", got, want)
	}
	m := b.Manifest
	merged := m.Runs[1]
	if merged.Parts[0].Path != "bundle-1/x/gc.txt" || merged.Parts[0].Ops != 5 || !slices.Equal(merged.Loops, loops) {
		t.Errorf("merged run = %+v", merged)
	}
	if m.Environment != env || m.Target.Module != "example.com/m" || m.Target.Kind != evidence.TargetFiles ||
		len(m.Target.Args) != 3 {
		t.Errorf("environment = %+v, target = %+v", m.Environment, m.Target)
	}
	want := []string{packed + ": the recording was cut short", packed + ": hot", dir + ": the recording was cut short",
		dir + ": hot"}
	for i, text := range want {
		if i >= len(m.Warnings) || !strings.HasPrefix(m.Warnings[i], text) {
			t.Errorf("warnings = %q, want %q", m.Warnings, want)
			break
		}
	}
	if !slices.Equal(m.LeftOut, []string{packed + ": cold", dir + ": cold"}) {
		t.Errorf("left out = %q", m.LeftOut)
	}
	if want := []evidence.Gap{{What: packed + ": the other run", Adds: "more"},
		{What: dir + ": the other run", Adds: "more"}}; !slices.Equal(m.Gaps, want) {
		t.Errorf("lacks = %q, want %q", m.Gaps, want)
	}
}

func TestFilesNames(t *testing.T) {
	r := &fileRecorder{names: map[string]bool{}}
	f := func(in, want string) {
		t.Helper()
		if got := r.name(in, ""); got != want {
			t.Errorf("name(%q) = %q, want %q", in, got, want)
		}
	}
	f("/tmp/cpu.pprof", "files/cpu.pprof")
	f("/var/CPU.pprof", "files/CPU-2.pprof")
	f("x.partial", "files/x")
	f("a:b\\c", "files/a_b_c")
	f("...", "files/file")
}

func TestFilesInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w, err := bundle.Create(filepath.Join(t.TempDir(), "b"), evidence.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Paths: []string{writeAt(t, "x", []byte(gctraceText))}, Progress: func(string, ...any) { cancel() }}
	if err := Record(ctx, o, w); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want %v", err, context.Canceled)
	}
}

func FuzzSniff(f *testing.F) {
	for _, s := range []string{gctraceText, benchText, metricsText, escapeText, "go 1.26 trace\x00\x00\x00", "PERFILE2",
		"\x1f\x8b", "\x28\xb5\x2f\xfd", "# runtime.MemStats\n"} {
		f.Add([]byte(s))
	}
	name := filepath.Join(f.TempDir(), "in")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := sniff(name)
		known := fmt.Sprint(len(s.kinds) > 0, s.profile != nil, s.bundle)
		if err == nil && strings.Count(known, "true") != 1 {
			t.Errorf("sniff(%q) = %+v", data, s)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("sniff(%q): error %q does not name the file", data, err)
		}
	})
}
