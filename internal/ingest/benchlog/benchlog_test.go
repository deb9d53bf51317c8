package benchlog_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/heaptrim/heaptrim/internal/ingest/benchlog"
)

func read(t *testing.T, in string) *benchlog.Log {
	t.Helper()
	log, err := benchlog.Read("in", strings.NewReader(in))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return log
}

// names lists what Read made of the names: "Name@Procs".
func names(log *benchlog.Log) string {
	var out []string
	for _, r := range log.Results {
		out = append(out, fmt.Sprintf("%s@%d", strings.TrimPrefix(r.Name, "Benchmark"), r.Procs))
	}
	return strings.Join(out, " ")
}

func TestResult(t *testing.T) {
	log := read(t, "goos: linux\ngoarch: arm64\npkg: example.com/m\ncpu: Some CPU @ 2GHz\n"+
		"BenchmarkA/x=1-8 \t 120\t 9.5 ns/op\t 40.25 MB/s\t 12.5 p99-ns\t 64 B/op\t 3 allocs/op\nBenchmarkB-8 7 0 ns/op\nPASS\n")
	if log.GOOS != "linux" || log.GOARCH != "arm64" || log.CPU != "Some CPU @ 2GHz" || log.Malformed != 0 || len(log.Results) != 2 {
		t.Fatalf("got %+v", log)
	}
	a := log.Results[0]
	metrics := map[string]float64{"MB/s": 40.25, "p99-ns": 12.5}
	if !maps.Equal(a.Metrics, metrics) {
		t.Errorf("metrics %v, want %v", a.Metrics, metrics)
	}
	a.Metrics = nil
	want := benchlog.Result{Name: "BenchmarkA/x=1", FullName: "BenchmarkA/x=1-8", Procs: 8, Package: "example.com/m",
		Iterations: 120, NsPerOp: 9.5, Mem: true, BytesPerOp: 64, AllocsPerOp: 3, Line: 5}
	if fmt.Sprint(a) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", a, want)
	}
	if b := log.Results[1]; b.Mem || b.NsPerOp != 0 || b.Iterations != 7 || b.Line != 6 {
		t.Errorf("second result %+v", b)
	}
}

func TestProcs(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		var text strings.Builder
		for _, name := range strings.Fields(in) {
			if pkg, ok := strings.CutPrefix(name, "pkg:"); ok {
				fmt.Fprintf(&text, "pkg: %s\n", pkg)
				continue
			}
			fmt.Fprintf(&text, "Benchmark%s 10 5 ns/op\n", name)
		}
		if got := names(read(t, text.String())); got != want {
			t.Errorf("names %s: got %s, want %s", in, got, want)
		}
	}
	f("A-8 B/x-8", "A@8 B/x@8")
	f("A B/x", "A@1 B/x@1")
	f("A B/size-1024", "A@1 B/size-1024@1")                             // GOMAXPROCS=1
	f("A-8 B/size-1024-8", "A@8 B/size-1024@8")                         //
	f("A A-2 B/size-64 B/size-64-2", "A@1 A@2 B/size-64@1 B/size-64@2") // -cpu 1,2
	f("A A-2 B/x-2 B/x-2-2", "A@1 A@2 B/x-2@1 B/x-2@2")                 //
	f("A-2 A-4 B/x-2 B/x-4", "A@2 A@4 B/x@2 B/x@4")                     // -cpu 2,4
	f("A-2 A-4 B/x-2", "A@2 A@4 B/x@2")                                 // cut off
	f("A-2 A-4", "A@2 A@4")                                             //
	f("B/size-64 B/size-1024", "B/size-64@1 B/size-1024@1")             // only sub-benchmarks
	f("B/size-64 B/size-1024 C/size-64 C/size-1024", "B/size-64@1 B/size-1024@1 C/size-64@1 C/size-1024@1")
	f("B/a-64 B/b-1024", "B/a-64@1 B/b-1024@1")
	f("B/size-64-4 B/size-1024-4", "B/size-64@4 B/size-1024@4")
	f("B/x-1 B/x-0 B/x-007", "B/x-1@1 B/x-0@1 B/x-007@1")
	f("B/x-99999999999999999999", "B/x-99999999999999999999@1")
	f("pkg:a A B/x-64 pkg:b A-8 B/x-8", "A@1 B/x-64@1 A@8 B/x@8")
}

func TestTorn(t *testing.T) {
	f := func(in, want string, malformed int) {
		t.Helper()
		log := read(t, in)
		if names(log) != want || log.Malformed != malformed || len(log.Errors) != malformed {
			t.Errorf("Read(%q): results %s, errors %v, want %s, %d", in, names(log), log.Errors, want, malformed)
		}
	}
	f("BenchmarkA-2   \thello\nworld\n     100\t        9.7 ns/op\nBenchmarkB-2 5 5 ns/op\n", "A@2 B@2", 0)
	f("BenchmarkA-2   \t42 things\n 100\t 9.7 ns/op\t 3 B/op\n", "A@2", 0)
	f("BenchmarkA-2   \thello\nBenchmarkB-2 5 5 ns/op\n 100\t 9.7 ns/op\n", "B@2", 1)
	f("BenchmarkA-2   \thello     100\t        9.7 ns/op\n", "", 1)
	f("BenchmarkA-2   \thello\nworld     100\t        9.7 ns/op\n", "", 1)
	f("BenchmarkA-2   \thello\n 100\t things\n 7\t 9.7 ns/op\n", "A@2", 0)
	f(" 100\t 9.7 ns/op\n", "", 0)
	f("BenchmarkA\nBenchmarkA/x\nBenchmarkA/x-2 \t 100\t 5 ns/op\n", "A/x@2", 0) // -v

	// The report of the torn line is taken back even when the list was full.
	var many strings.Builder
	for range 100 {
		many.WriteString("BenchmarkA-2   \thello\n     100\t        9.7 ns/op\n")
	}
	f(many.String(), strings.TrimSpace(strings.Repeat("A@2 ", 100)), 0)
}

func TestMalformed(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		log := read(t, "BenchmarkGood-2 10 5 ns/op\n"+line+"\nBenchmarkGood-2 10 5 ns/op\n")
		if len(log.Results) != 2 || log.Malformed != 1 || log.Errors[0].Line != 2 || !strings.Contains(log.Errors[0].Error(), want) {
			t.Errorf("Read(%.60q): %d results, errors %v, want 2, in:2: … %q", line, len(log.Results), log.Errors, want)
		}
	}
	f("BenchmarkX-2 many 5 ns/op", "iteration count")
	f("BenchmarkX-2 99999999999999999999999 5 ns/op", "iteration count")
	f("BenchmarkX-2 0 5 ns/op", "below 1")
	f("BenchmarkX-2 -4 5 ns/op", "below 1")
	f("BenchmarkX-2 4 NaN ns/op", "not finite")
	f("BenchmarkX-2 4 +Inf ns/op", "not finite")
	f("BenchmarkX-2 4 1e999 ns/op", "measurement")
	f("BenchmarkX-2 4 -1 ns/op", "negative")
	f("BenchmarkX-2 4 5 ns/op 6 ns/op", "two measurements")
	f("BenchmarkX-2 4 5", "missing units")
	f("BenchmarkX-2 4", "missing measurements")
	f("BenchmarkX-2 4 5 ns/op "+strings.Repeat("x", 100<<10), "too long")
}

func TestBounded(t *testing.T) {
	log := read(t, strings.Repeat("Benchmark broken line\n", 100)+strings.Repeat("BenchmarkX-2 4 5 ns/op "+strings.Repeat("x", 40<<10)+"\n", 50))
	if log.Malformed != 150 || len(log.Errors) != benchlog.MaxErrors {
		t.Errorf("%d malformed, %d errors, want 150, %d", log.Malformed, len(log.Errors), benchlog.MaxErrors)
	}
	long := strings.Repeat("text of the program ", 100<<10) + "\nBenchmarkA-2 1 5 ns/op\n"
	if log := read(t, long); names(log) != "A@2" || log.Results[0].Line != 2 {
		t.Errorf("behind a long line: %+v", log)
	}
}

func TestReadError(t *testing.T) {
	in := io.MultiReader(strings.NewReader("BenchmarkA-2 10 5 ns/op\nBenchmarkB-2 10 5 ns/"), iotest.ErrReader(os.ErrDeadlineExceeded))
	log, err := benchlog.Read("cut.txt", in)
	if !errors.Is(err, os.ErrDeadlineExceeded) || !strings.Contains(err.Error(), "cut.txt, line 2") || names(log) != "A@2" {
		t.Errorf("Read: %+v, error %v", log, err)
	}
}

// TestReal reads what go1.26.8 printed for benchmarks with numbers in their
// names that also print text.
func TestReal(t *testing.T) {
	f := func(file, want string) {
		t.Helper()
		in, err := os.Open(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		log, err := benchlog.Read(file, in)
		if err != nil || log.Malformed != 0 {
			t.Errorf("%s: error %v, %v", file, err, log.Errors)
		}
		if got := names(log); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
	const one = "Make/size-64@1 Make/size-1024@1 Log@1"
	two := strings.ReplaceAll(one, "@1", "@2")
	f("cpu1.txt", one+" Print@1 "+one)
	f("cpu2.txt", two+" Print@2 "+two)
	f("verbose.txt", "Make/size-64@2 Make/size-1024@2")
	each := func(name string) string { return fmt.Sprintf("%[1]s@1 %[1]s@1 %[1]s@2 %[1]s@2", name) }
	f("cpu1-2.txt", each("Make/size-64")+" "+each("Make/size-1024")+" "+each("Log")+" "+each("Print"))
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(in)
	}
	f.Add([]byte("BenchmarkA-2   \thello\n 100\t 9.7 ns/op\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		log, err := benchlog.Read("fuzz", strings.NewReader(string(in)))
		if err != nil || log.Malformed < len(log.Errors) {
			t.Fatalf("error %v, %d malformed, %d errors", err, log.Malformed, len(log.Errors))
		}
		for _, r := range log.Results {
			if r.Iterations < 1 || r.Procs < 1 || !strings.HasPrefix(r.FullName, r.Name) || !(r.NsPerOp >= 0 && r.NsPerOp <= math.MaxFloat64) {
				t.Errorf("result %+v", r)
			}
		}
	})
}
