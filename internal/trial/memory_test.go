package trial

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// TestRemember: a trial is made once for the same content, and again when a file of the package, of a
// package that it imports, or of its test data has changed.
func TestRemember(t *testing.T) {
	_, dir := judge(t)
	asked, store := 0, t.TempDir()
	ask := func(files Files) int {
		t.Helper()
		m := memory{dir: store, tool: gocmd.Tool{Dir: dir}, state: map[string]string{}}
		if err := m.open(); err != nil {
			t.Fatal(err)
		}
		got, err := remember(t.Context(), &m, question{"example.com/m/b", files.Hash(), "what"}, func() (int, bool, error) {
			asked++
			return asked, true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if first, again := ask(nil), ask(nil); first != 1 || again != 1 {
		t.Error("the same trial was made twice")
	}
	if ask(Files{"x.go": []byte("package x")}) != 2 || ask(nil) != 1 {
		t.Error("another change counts as the same, or made the first one forgotten")
	}
	if err := os.WriteFile(filepath.Join(dir, "b", page), []byte("<html>"), 0o644); err != nil {
		t.Fatal(err)
	}
	if ask(nil) != 1 {
		t.Error("the page of check counts as the package's")
	}
	for i, name := range []string{"a/a.go", "b/testdata/deep/x", "b/b_test.go"} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte("package "+filepath.Base(filepath.Dir(at))+"\n\nvar New = func(n int) int { return n }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := ask(nil); got != 3+i {
			t.Errorf("after a change of %s: %d trials, want %d", name, got, 3+i)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c", "c.go"), []byte("package c\n\nvar C = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := ask(nil); got != 5 {
		t.Errorf("%d trials, want 5: a package that is not imported has changed", got)
	}
}

// TestNoMemory: where the folder cannot be made, nothing is kept, and trials go on.
func TestNoMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	m := memory{dir: filepath.Join(file, "trials")}
	if err := m.open(); err != nil || m.dir != "" {
		t.Errorf("folder %q, error %v", m.dir, err)
	}
}

// A benchmark whose pace is not known is counted for a time: a fixed number of operations could be too small.
func TestLength(t *testing.T) {
	for ns, want := range map[float64]string{0: "100ms", 1: "20000x", 1e6: "100x", 1e9: "20x"} {
		if got := (Bench{NsPerOp: ns}).length(); got != want {
			t.Errorf("%v ns an operation: %s, want %s", ns, got, want)
		}
	}
}

// TestTwice: tests run twice without a change unless that would take the time of those with one.
func TestTwice(t *testing.T) {
	for _, c := range []struct {
		left, took time.Duration
		want       bool
	}{{time.Hour, time.Second, true}, {time.Hour, 20 * time.Minute, false}, {-time.Second, time.Second, false}} {
		if got := twice(time.Now().Add(c.left), c.took); got != c.want {
			t.Errorf("%v of %v: %v, want %v", c.took, c.left, got, c.want)
		}
	}
	if !twice(time.Time{}, time.Hour) {
		t.Error("there is no limit")
	}
}
