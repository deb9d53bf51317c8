package recorder_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

func TestWindows(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	cmd := exec.Command(bin, "return", "1h")
	cmd.Env = append(os.Environ(), recorder.Env(dir, recorder.Options{})...)
	start(t, cmd)
	for i := 1; i <= 2; i++ {
		before := time.Now()
		within(t, func(ctx context.Context) error {
			return recorder.Start(ctx, dir, recorder.Options{CPU: i == 1, Metrics: 5 * time.Millisecond})
		})
		time.Sleep(300 * time.Millisecond)
		within(t, func(ctx context.Context) error { return recorder.Stop(ctx, dir) })
		r := files(t, dir)
		took := time.Since(before)
		if !r.Complete || r.Exit || r.Files.Forced || r.Wall < 300*time.Millisecond || r.Wall > took {
			t.Errorf("window %d: %+v", i, r)
		}
		if got, want := len(r.Files.CPUParts) > 0, i == 1; got != want {
			t.Errorf("window %d: CPU profile %v, want %v", i, got, want)
		}
	}
	// Without an open window, Stop does nothing.
	within(t, func(ctx context.Context) error { return recorder.Stop(ctx, dir) })
	rec, err := recorder.Read(dir)
	if err != nil || len(rec.Windows) != 2 {
		t.Errorf("%d windows, error %v", len(rec.Windows), err)
	}
}

func TestWindowEndsByItself(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	cmd := exec.Command(bin, "return", "1h")
	cmd.Env = append(os.Environ(), recorder.Env(dir, recorder.Options{Auto: true, Max: 100 * time.Millisecond})...)
	before := time.Now()
	start(t, cmd)
	eventually(t, "the window's end", func() bool { return latest(t, dir).Complete })
	took := time.Since(before)
	if r := files(t, dir); !r.Complete || r.Exit || r.Wall < 100*time.Millisecond || r.Wall > took {
		t.Errorf("recorded %+v in %v", r, took)
	}
}

// latest returns the latest window recorded into dir so far.
func latest(t *testing.T, dir string) recorder.Result {
	t.Helper()
	r, err := recorder.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Windows) == 0 {
		return recorder.Result{}
	}
	return r.Windows[len(r.Windows)-1]
}

// TestKill kills the program in the middle of a window.
func TestKill(t *testing.T) {
	bin := build(t, "")
	for name, until := range map[string]func(recorder.Result) bool{
		"at once":                         func(recorder.Result) bool { return true },
		"after some snapshots":            func(r recorder.Result) bool { return len(r.Files.Heap) > 2 },
		"after a part of the CPU profile": func(r recorder.Result) bool { return len(r.Files.CPUParts) > 0 },
	} {
		dir := t.TempDir()
		cmd := exec.Command(bin, "return", "1h")
		cmd.Env = append(os.Environ(), recorder.Env(dir, recorder.Options{})...)
		start(t, cmd)
		within(t, func(ctx context.Context) error {
			return recorder.Start(ctx, dir,
				recorder.Options{CPU: true, HeapSnap: time.Millisecond, Metrics: time.Millisecond})
		})
		eventually(t, name, func() bool { return until(latest(t, dir)) })
		cmd.Process.Kill()
		cmd.Wait()
		r := files(t, dir)
		if r.Complete || len(r.Files.Heap) == 0 || !until(r) {
			t.Errorf("killed %s: %+v", name, r)
		}
	}
}

func TestSnapshotsAreBounded(t *testing.T) {
	bin := build(t, "")
	dir := t.TempDir()
	run(t, bin, recorder.Env(dir, recorder.Options{Auto: true, HeapSnap: time.Millisecond}), "return", "3s")
	r := files(t, dir)
	// The number depends on how long a snapshot takes; a busy machine may manage only two.
	if len(r.Files.Heap) > 16 || len(r.Files.Heap) < 2 {
		t.Errorf("%d snapshots, want 2 to 16", len(r.Files.Heap))
	}
	if filepath.Base(r.Files.Heap[0]) != "heap-000.pb" || !slices.IsSorted(r.Files.Heap) {
		t.Errorf("snapshots %v", r.Files.Heap)
	}
}

func TestNobodyAnswers(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := recorder.Start(ctx, t.TempDir(), recorder.Options{})
	if !errors.Is(err, recorder.ErrNoRecorder) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Start = %v", err)
	}
	if _, err := recorder.Files(t.TempDir()); !errors.Is(err, recorder.ErrNoRecorder) {
		t.Errorf("Files = %v", err)
	}
}

func TestEnv(t *testing.T) {
	got := recorder.Env("/d", recorder.Options{MemRate: 4096, GODEBUG: "gctrace=1", Auto: true, CPU: true, HeapSnap: -1,
		Max: time.Second})
	want := []string{
		"HEAPTRIM_RECORD=/d",
		"GODEBUG=gctrace=1,memprofilerate=4096",
		"HEAPTRIM_RECORD_OPTIONS=cpu=1,gc=0,heapsnap=0s,metrics=100ms,max=1s,auto=1,memrate=4096",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadHalfWritten(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("recorder.json", "")
	write("window-001/heap.tmp", "x")
	write("window-001/cpu.tmp", "x")
	r, err := recorder.Files(dir)
	if err != nil || len(r.Files.Heap)+len(r.Files.CPUParts) != 0 || r.Complete {
		t.Errorf("Files = %+v, %v", r, err)
	}
	write("env.json", "{")
	if _, err := recorder.Files(dir); err == nil {
		t.Error("a broken env.json is no error")
	}
}

func TestTraceWindow(t *testing.T) {
	for _, toolchain := range toolchains() {
		t.Run("toolchain="+toolchain, func(t *testing.T) {
			bin := build(t, toolchain)
			dir := t.TempDir()
			cmd := exec.Command(bin, "return", "1h")
			cmd.Env = append(os.Environ(), recorder.Env(dir, recorder.Options{})...)
			start(t, cmd)
			window := func(o recorder.Options, until func() bool) recorder.Result {
				t.Helper()
				within(t, func(ctx context.Context) error { return recorder.Start(ctx, dir, o) })
				time.Sleep(300 * time.Millisecond)
				eventually(t, "the window", until)
				within(t, func(ctx context.Context) error { return recorder.Stop(ctx, dir) })
				r, err := recorder.Files(dir)
				if err != nil || !r.Complete {
					t.Fatalf("recorded %+v, %v", r, err)
				}
				return r
			}
			soon := func() bool { return true }
			if r := window(recorder.Options{}, soon); r.Files.Trace != "" {
				t.Errorf("a trace without a request: %+v", r)
			}
			r := window(recorder.Options{Trace: 1 << 30, HeapSnap: -1, Metrics: -1}, soon)
			head, err := os.ReadFile(r.Files.Trace)
			if err != nil || !bytes.HasPrefix(head, []byte("go 1.")) || len(r.Files.Heap) > 0 || r.Files.Metrics != "" {
				t.Errorf("recorded %+v, trace %.20q, %v", r, head, err)
			}
			// A trace that exceeds its size limit ends its window.
			ended := func() bool { return latest(t, dir).Complete }
			if r = window(recorder.Options{Trace: 1, HeapSnap: -1, Metrics: -1}, ended); r.Files.Trace == "" {
				t.Errorf("recorded %+v, want a trace", r)
			}
			rec, err := recorder.Read(dir)
			if err != nil || len(rec.Notes) != 1 || !strings.Contains(rec.Notes[0], "largest size") {
				t.Errorf("notes %q, %v", rec.Notes, err)
			}
		})
	}
}
