package recorder_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/record/recorder"
)

// TestClosedDescriptors records a program that closes descriptors which it does not know.
// Without a recorder it has no network poller then, which it would die without; and what
// the recorder writes must not go to the program's file, which has the number of one that
// was closed.
func TestClosedDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("programs do that on Linux")
	}
	bin := build(t, "")
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "own")
	env := recorder.Env(dir, recorder.Options{Auto: true, CPU: true, HeapSnap: 20 * time.Millisecond,
		Metrics: 5 * time.Millisecond})
	if code := run(t, bin, env, "close", "1200ms", file).ExitCode(); code != 0 {
		t.Fatalf("exit code %d: the program died under the recorder", code)
	}
	r := files(t, dir)
	if !r.Complete || len(r.Files.CPUParts) == 0 || len(r.Files.Heap) < 2 || r.Files.Metrics == "" {
		t.Errorf("recorded %+v", r)
	}
	if text, err := os.ReadFile(file); err != nil || len(text) > 0 {
		t.Errorf("%d bytes were written to the program's file, %v", len(text), err)
	}
}

// TestWeight holds what the recorder says of its own memory, and its limits where it takes
// no profile.
func TestWeight(t *testing.T) {
	bin := build(t, "")
	weigh := func(o recorder.Options) recorder.Weight {
		t.Helper()
		dir := t.TempDir()
		o.Auto = true
		if code := run(t, bin, recorder.Env(dir, o), "return", "300ms").ExitCode(); code != 0 {
			t.Fatalf("exit code %d", code)
		}
		return files(t, dir).Own
	}
	const mib = 1 << 20
	alone := weigh(recorder.Options{HeapSnap: -1, Metrics: 20 * time.Millisecond})
	if alone.Live <= 0 || alone.Live > mib || alone.Resident < alone.Live || alone.Resident > 5*mib {
		t.Errorf("without a profile: %+v, want less than 1 MiB live and 5 MiB resident", alone)
	}
	profiled := weigh(recorder.Options{CPU: true})
	// The recorder says it from sizes that it knows; here it is measured.
	real := float64(liveOfProfile(t))
	if got := float64(profiled.Live - alone.Live); got < 0.85*real || got > 1.3*real {
		t.Errorf("a profile keeps %.0f bytes alive by the recorder, %.0f in this process", got, real)
	}
	if profiled.Resident < profiled.Live {
		t.Errorf("profiled: %+v", profiled)
	}
}

// liveOfProfile returns what a CPU profile keeps alive.
func liveOfProfile(t *testing.T) int64 {
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skip(err) // the tests themselves are profiled
	}
	defer pprof.StopCPUProfile()
	return live() - before
}
