// Package recordtest holds helpers for tests of recordings.
package recordtest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"testing"
	"testing/fstest"

	"golang.org/x/exp/trace"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
)

// Trace counts the events of an execution trace.
type Trace struct {
	Events  int
	Samples int            // CPU samples
	Tasks   map[string]int // ended tasks by type
}

// ReadTrace reads the only execution trace of a bundle to its end.
func ReadTrace(t *testing.T, b *bundle.Bundle) (Trace, evidence.Part) {
	t.Helper()
	parts := PartsOf(b, evidence.PassTrace, evidence.KindTrace)
	if len(parts) != 1 {
		t.Fatalf("trace parts %+v, want one; gaps %q", parts, b.Manifest.Gaps)
	}
	f, err := os.Open(b.Path(parts[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	got := Trace{Tasks: map[string]int{}}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return got, parts[0]
		}
		if err != nil {
			t.Fatal(err)
		}
		got.Events++
		if ev.Kind() == trace.EventStackSample {
			got.Samples++
		}
		if ev.Kind() == trace.EventTaskEnd {
			got.Tasks[ev.Task().Type]++
		}
	}
}

// WriteTree writes files into a new folder. files alternates names and contents.
func WriteTree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ProfileBytes returns a heap profile of this process.
func ProfileBytes(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Lookup("allocs").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// PartsOf returns the parts of one pass and kind.
func PartsOf(b *bundle.Bundle, pass string, kind evidence.Kind) (parts []evidence.Part) {
	for _, r := range b.Manifest.Runs {
		for _, p := range r.Parts {
			if p.Pass == pass && p.Kind == kind {
				parts = append(parts, p)
			}
		}
	}
	return parts
}

// Files returns a file system with the given files; files alternates names and
// contents.
func Files(files ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i+1 < len(files); i += 2 {
		fsys[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fsys
}

// Lines of /proc/self/mountinfo that mount control groups v2 and v1.
const (
	MountV2     = "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	MountMemory = "33 25 0:29 / /sys/fs/cgroup/memory rw shared:10 - cgroup cgroup rw,memory\n"
	MountCPU    = "34 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n"
)
