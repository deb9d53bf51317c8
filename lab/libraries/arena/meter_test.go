package arenas

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	pprofprofile "github.com/google/pprof/profile"
)

// meter adds the CPU time of the process to a benchmark's figures: it counts
// what the collector does on other processors, and not the waiting for one.
type meter struct {
	sum int
	cpu time.Duration
}

func start(b *testing.B) *meter {
	runtime.GC()
	b.ReportAllocs()
	return &meter{cpu: cpuTime()}
}

func (m *meter) stop(b *testing.B) {
	// b.Loop's first calls and its own bookkeeping are not left out, but small.
	b.ReportMetric(float64(cpuTime()-m.cpu)/float64(b.N), "cpu-ns/op")
	if m.sum == 0 {
		b.Error("the work was not done")
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// loadProfile returns an uncompressed profile: that of the file that PROFILE
// names, so that all runs read the same, or else a new one.
func loadProfile(t testing.TB) []byte {
	t.Helper()
	if name := os.Getenv("PROFILE"); name != "" {
		in, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	in, err := madeProfile()
	if err != nil {
		t.Fatal(err)
	}
	return in
}

var madeProfile = sync.OnceValues(makeProfile)

// makeProfile takes the allocation profile of reading and printing much Go
// source, which has many deep stacks.
func makeProfile() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 256
	for _, dir := range []string{"net/http/httputil", "go/types", "encoding/json", "text/template", "regexp"} {
		if err := printSource(filepath.Join(strings.TrimSpace(string(root)), "src", dir)); err != nil {
			return nil, err
		}
	}
	runtime.GC()
	runtime.MemProfileRate = rate
	var packed bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&packed, 0); err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(&packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func printSource(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no source in %s: %w", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if err := printer.Fprint(io.Discard, fset, file); err != nil {
			return err
		}
	}
	return nil
}

// TestWriteProfile writes the profile for the runs of a table to PROFILE_OUT.
func TestWriteProfile(t *testing.T) {
	name := os.Getenv("PROFILE_OUT")
	if name == "" {
		t.Skip("PROFILE_OUT is not set")
	}
	in, err := makeProfile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, in, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := pprofprofile.ParseUncompressed(in)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d samples, %d locations, %d functions", len(in), len(p.Sample), len(p.Location), len(p.Function))
}

// check compares what an allocator's workloads returned with the truth.
func check(t *testing.T, tree, grown, sum int, in []byte) {
	t.Helper()
	var heap heap
	if want := plainTree(heap, 8).walk(); tree != want {
		t.Errorf("tree: got %d, want %d", tree, want)
	}
	if want := 1 + 5 + 3000 + 1 + 2 + 750; grown != want {
		t.Errorf("append: got %d, want %d", grown, want)
	}
	p, err := pprofprofile.ParseUncompressed(in)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, s := range p.Sample {
		for _, l := range s.Location {
			for _, n := range l.Line {
				want += len(n.Function.Name)
			}
		}
		want += len(s.Value) + len(s.Label) + len(s.NumLabel)
	}
	if sum != want {
		t.Errorf("profile: got %d, want %d, by google/pprof", sum, want)
	}
}
