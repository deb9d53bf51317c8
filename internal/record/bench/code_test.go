package bench

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/ingest/objdump"
	"github.com/heaptrim/heaptrim/internal/record/after"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

func TestDisassemble(t *testing.T) {
	dir := codeModule(t)
	binary := filepath.Join(t.TempDir(), "code.test")
	build := exec.Command("go", "test", "-c", "-o", binary, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	text, err := after.Disassemble(context.Background(), binary,
		[]string{"example.com/codetest.BenchmarkSum", "example.com/codetest.pick[...]", "no.such.function"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	err = objdump.Read("objdump", bytes.NewReader(text), func(f evidence.Code) error {
		name, _, _ := strings.Cut(f.Function, "[")
		seen[name] += len(f.Instructions)
		return nil
	})
	if err != nil || seen["example.com/codetest.BenchmarkSum"] < 20 || seen["example.com/codetest.pick"] < 2 ||
		len(seen) > 2 {
		t.Errorf("instructions by function: %v, %v", seen, err)
	}
	if text, err := after.Disassemble(context.Background(), binary, nil); len(text) > 0 || err != nil {
		t.Errorf("no functions give %d bytes, %v", len(text), err)
	}
	if _, err := after.Disassemble(context.Background(), filepath.Join(t.TempDir(), "none"),
		[]string{"f"}); err == nil {
		t.Error("no error for a missing binary")
	}
}

// TestCodeOfBenchmarks looks for the machine code of a recording's hottest functions.
func TestCodeOfBenchmarks(t *testing.T) {
	b := recordBenchmarks(t, Options{Dir: codeModule(t), Bench: "Sum$", BenchTime: gocmd.BenchTime{Time: 200e6}})
	for _, run := range b.Manifest.Runs {
		for _, part := range run.Parts {
			if part.Kind != evidence.KindCode {
				continue
			}
			f, err := os.Open(b.Path(part))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			names := map[string]bool{}
			if err := objdump.Read(part.Path, f,
				func(c evidence.Code) error { names[c.Function] = true; return nil }); err != nil {
				t.Fatal(err)
			}
			if !names["example.com/codetest.BenchmarkSum"] {
				t.Errorf("no code of the benchmark in %v", names)
			}
			return
		}
	}
	t.Errorf("no machine code in %+v", b.Manifest.Runs)
}

// codeModule writes a module with a benchmark.
func codeModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/codetest\n\ngo 1.25\n",
		"sum_test.go": `package codetest

import "testing"

var sink []int

//go:noinline
func pick[T any](list []T) T { return list[0] }

func BenchmarkSum(b *testing.B) {
	for b.Loop() {
		sum := 0
		for i := range 100000 {
			sum += i * i % 7
		}
		sink = make([]int, sum%3+1)
		sink[0] = pick(sink)
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// recordBenchmarks records with the options o into a bundle.
func recordBenchmarks(t *testing.T, o Options) *bundle.Bundle {
	t.Helper()
	out := filepath.Join(t.TempDir(), "b")
	w, err := bundle.Create(out, evidence.Manifest{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := Record(context.Background(), o, w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(true); err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// TestManyWords records a benchmark whose output is longer than what is kept.
func TestManyWords(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/words\n\ngo 1.25\n", "words_test.go", `package words

import (
	"os"
	"strings"
	"testing"
)

var (
	sink []byte
	line = strings.Repeat("x", 1<<20-1) + "\n"
)

func BenchmarkTalk(b *testing.B) {
	for range 40 {
		os.Stdout.WriteString(line)
	}
	for b.Loop() {
		sink = make([]byte, 1024)
	}
}
`)
	b := recordBenchmarks(t, Options{Dir: dir, Patterns: []string{"."}, BenchTime: gocmd.BenchTime{Time: 20 * time.Millisecond}, Count: 1})
	if len(b.Manifest.Runs) != 1 || b.Manifest.Runs[0].Name != "BenchmarkTalk" {
		t.Fatalf("runs %+v, warnings %q", b.Manifest.Runs, b.Manifest.Warnings)
	}
	for _, p := range b.Manifest.Runs[0].Parts {
		info, err := os.Stat(b.Path(p))
		if err != nil {
			t.Fatal(err)
		}
		if p.Kind == evidence.KindBench && info.Size() > mostOutput {
			t.Errorf("%s has %d bytes, want at most %d", p.Path, info.Size(), mostOutput)
		}
	}
}
