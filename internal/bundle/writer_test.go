package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// text returns a function that fills a part with s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func create(t *testing.T) (*bundle.Writer, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "b")
	w, err := bundle.Create(dir, evidence.Manifest{Tool: "test", Target: evidence.Target{Kind: evidence.TargetLive}})
	if err != nil {
		t.Fatal(err)
	}
	return w, dir
}

func open(t *testing.T, path string) *bundle.Bundle {
	t.Helper()
	b, err := bundle.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func wantProblems(t *testing.T, b *bundle.Bundle, want ...string) {
	t.Helper()
	got := b.Problems()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.Contains(got[i], want[i])
	}
	if !ok {
		t.Errorf("Problems() = %q, want %q", got, want)
	}
}

func wantErr(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want one with %q", what, parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%s: error %q, want it to say %q", what, err, p)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	w, dir := create(t)
	run := w.Run(evidence.Run{Name: "service", Parts: []evidence.Part{{Path: "not-there"}}})
	p := evidence.Part{Path: "service/cpu.pprof", Kind: evidence.KindCPU, Pass: "service", Wall: time.Second}
	must(t, w.Add(run, p, text("profile")))
	from := filepath.Join(t.TempDir(), "gc.txt")
	must(t, os.WriteFile(from, []byte("gc 1"), 0o444))
	must(t, w.Adopt(run, evidence.Part{Path: "gc.txt", Kind: evidence.KindGCTrace, Pass: "service"}, from))
	if _, err := os.Stat(from); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an adopted file is still at its old place: %v", err)
	}
	must(t, w.Update(func(m *evidence.Manifest) {
		m.Warnings = append(m.Warnings, "careful")
		m.Runs[0].Parts[0].Ops = 7
	}))
	must(t, w.Close(true))
	must(t, w.Close(false))
	packed := filepath.Join(t.TempDir(), "b.tar.zst")
	must(t, bundle.Pack(dir, packed))
	for _, path := range []string{dir, packed} {
		b := open(t, path)
		wantProblems(t, b)
		m := b.Manifest
		if !m.Complete || len(m.Runs) != 1 || len(m.Runs[0].Parts) != 2 || m.Runs[0].Parts[0].Ops != 7 || !slices.Equal(m.Warnings, []string{"careful"}) {
			t.Errorf("%s: manifest = %+v", path, m)
		}
		if got, err := os.ReadFile(b.Path(p)); string(got) != "profile" {
			t.Errorf("%s: part = %q, %v", path, got, err)
		}
	}
}

func TestCreateRefusesFullDirectory(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("x"), 0o644))
	_, err := bundle.Create(dir, evidence.Manifest{})
	wantErr(t, "Create", err, dir, "not empty", "thesis.txt")
}

func TestDiscard(t *testing.T) {
	w, dir := create(t)
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Discard of a bundle without a run leaves %s: %v", dir, err)
	}

	own := t.TempDir()
	w, err := bundle.Create(own, evidence.Manifest{Tool: "test", Target: evidence.Target{Kind: evidence.TargetLive}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(own); err != nil || len(left) > 0 {
		t.Errorf("Discard leaves %v in a directory that was there before, %v; want it empty", left, err)
	}

	w, dir = create(t)
	run := w.Run(evidence.Run{Name: "r"})
	if err := w.Add(run, evidence.Part{Kind: evidence.KindGCTrace, Path: "r/gctrace.txt"}, text("x")); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	if b := open(t, dir); len(b.Manifest.Runs) != 1 || b.Manifest.Complete {
		t.Errorf("Discard of a bundle with a run leaves %+v, want it as it was, not complete", b.Manifest)
	}
}

func TestWriterRefuses(t *testing.T) {
	w, _ := create(t)
	run := w.Run(evidence.Run{Name: "r"})
	f := func(p evidence.Part, want string) {
		t.Helper()
		wantErr(t, p.Path, w.Add(run, p, text("x")), want)
		if _, err := w.Unfinished(p); want == "clean relative path" && err == nil {
			t.Errorf("Unfinished(%q): no error", p.Path)
		}
	}
	must(t, w.Add(run, evidence.Part{Path: "a/b"}, text("x")))
	for _, path := range []string{"", ".", "..", "../x", "/x", "a/../../x", "a//c", "a/", "./a", "a\\b", "c:x", "a\x00"} {
		f(evidence.Part{Path: path}, "clean relative path")
	}
	f(evidence.Part{Path: "Manifest.json"}, "keeps for itself")
	f(evidence.Part{Path: "x.partial"}, "keeps for itself")
	f(evidence.Part{Path: "A/B"}, "there already")
	f(evidence.Part{Path: "x", Ops: -1}, "negative")
	wantErr(t, "run 1", w.Add(1, evidence.Part{Path: "x"}, text("x")), "run 1 of 1")
	wantErr(t, "fill", w.Add(run, evidence.Part{Path: "x"}, func(w io.Writer) error {
		io.WriteString(w, "half")
		return errors.New("server gone")
	}), "x", "server gone")
	must(t, w.Add(run, evidence.Part{Path: "x"}, text("second try")))
	wantErr(t, "Update", w.Update(func(m *evidence.Manifest) { m.Runs[0].Parts[0].Path = "y" }), "list of parts")
	wantErr(t, "Update", w.Update(func(m *evidence.Manifest) { m.Environment.NumCPU = -1 }), "negative")
	wantErr(t, "Adopt", w.Adopt(run, evidence.Part{Path: "dir"}, t.TempDir()), "not a regular file")
	must(t, w.Close(true))
	wantErr(t, "Add after Close", w.Add(run, evidence.Part{Path: "z"}, text("x")), "closed")
	wantErr(t, "Update after Close", w.Update(func(*evidence.Manifest) {}), "closed")
}

func TestWriterConcurrent(t *testing.T) {
	w, dir := create(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			run := w.Run(evidence.Run{Name: fmt.Sprint(i)})
			for j := range 4 {
				if err := w.Add(run, evidence.Part{Path: fmt.Sprintf("%d/%d", i, j)}, text("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	must(t, w.Close(true))
	parts := 0
	for _, r := range open(t, dir).Manifest.Runs {
		parts += len(r.Parts)
	}
	if parts != 32 {
		t.Errorf("%d parts, want 32", parts)
	}
}

// TestKilledRecording kills a process while it writes the second part of a bundle.
func TestKilledRecording(t *testing.T) {
	const dirVar = "HEAPTRIM_TEST_KILLED_BUNDLE"
	if dir := os.Getenv(dirVar); dir != "" {
		writeForever(dir)
	}
	dir := filepath.Join(t.TempDir(), "b")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledRecording$")
	cmd.Env = append(os.Environ(), dirVar+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	_, readErr := io.ReadFull(out, make([]byte, len("writing")))
	must(t, cmd.Process.Kill())
	cmd.Wait()
	must(t, readErr)
	b := open(t, dir)
	wantProblems(t, b, "cut short", "part service/cpu.pprof was being written")
	if got := b.Manifest.Runs[0].Parts; len(got) != 1 || got[0].Path != "allocs.pprof" {
		t.Errorf("parts = %+v, want the finished one only", got)
	}
	packed := filepath.Join(t.TempDir(), "b.tar.zst")
	must(t, bundle.Pack(dir, packed))
	wantProblems(t, open(t, packed), "cut short")
}

func writeForever(dir string) {
	w, err := bundle.Create(dir, evidence.Manifest{})
	if err != nil {
		panic(err)
	}
	run := w.Run(evidence.Run{Name: "service"})
	err = w.Add(run, evidence.Part{Path: "allocs.pprof", Kind: evidence.KindAllocs}, text("done"))
	if err != nil {
		panic(err)
	}
	w.Add(run, evidence.Part{Path: "service/cpu.pprof", Kind: evidence.KindCPU}, func(w io.Writer) error {
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
		os.Stdout.WriteString("writing")
		select {}
	})
}

// TestMeasured: MemStats alone are no recording, as when a service ends before its first profile.
func TestMeasured(t *testing.T) {
	w, _ := create(t)
	defer w.Close(false)
	run := w.Run(evidence.Run{Name: "service"})
	for _, c := range []struct {
		kind evidence.Kind
		want bool
	}{{evidence.KindMemStats, false}, {evidence.KindMetrics, false}, {evidence.KindHeap, true}} {
		if err := w.Add(run, evidence.Part{Path: string(c.kind), Kind: c.kind}, text("x")); err != nil {
			t.Fatal(err)
		}
		if got := w.Measured(); got != c.want {
			t.Errorf("measured with %s: %v, want %v", c.kind, got, c.want)
		}
	}
}
