package after

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/cachemiss"
)

// collections returns a log of three cycles that leave live MiB, and a forced one.
func collections(live int) string {
	var b strings.Builder
	for i := range 4 {
		forced := ""
		if i == 0 {
			forced = " (forced)"
		}
		fmt.Fprintf(&b, "gc %d @%d.000s 3%%: 0.1+5.0+0.1 ms clock, 0.2+1.0/5.0/0+0.2 ms cpu, %d->%d->%d MB, %d MB "+
			"goal, 0 MB stacks, 0 MB globals, 2 P%s\n",
			i+1, i+1, 2*live, 2*live, max(live-1000*len(forced), 0), 2*live, forced)
	}
	return b.String()
}

func TestShapeOf(t *testing.T) {
	f := func(log string, p evidence.Part, want cachemiss.Shape, known bool) {
		t.Helper()
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "gc.txt"), []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		p.Kind = evidence.KindCPU
		run := evidence.Run{Parts: []evidence.Part{p, {Kind: evidence.KindGCTrace, Path: "gc.txt"}}}
		got, ok := shapeOf(dir, run)
		if ok != known || ok && got != want {
			t.Errorf("%d bytes of log, %v of CPU: got %+v, %v, want %+v, %v", len(log), p.CPU, got, ok, want, known)
		}
	}
	second := evidence.Part{Wall: time.Second, CPU: time.Second}
	f(collections(16), second, cachemiss.Shape{Threads: 1, LiveBytes: 16 << 20, FreshBytes: 16 << 20}, true)
	// 16 MiB × √2
	f(collections(20), second, cachemiss.Shape{Threads: 1, LiveBytes: 23726566, FreshBytes: 23726566}, true)
	f(collections(0), evidence.Part{Wall: time.Second, CPU: 1900 * time.Millisecond},
		cachemiss.Shape{Threads: 2, LiveBytes: 1 << 19, FreshBytes: 1 << 19}, true)
	f(collections(5000), evidence.Part{CPU: time.Second},
		cachemiss.Shape{Threads: 1, LiveBytes: cachemiss.MaxLive, FreshBytes: cachemiss.MaxFresh}, true)
	f("", second, cachemiss.Shape{}, false)
	f("gc 1 @0.000s", second, cachemiss.Shape{}, false)
}

func TestKeepFreshLines(t *testing.T) {
	f := func(recorded time.Duration, want ...bool) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "b")
		w, err := bundle.Create(dir, evidence.Manifest{Tool: "test",
			Target: evidence.Target{Kind: evidence.TargetPackages}})
		if err != nil {
			t.Fatal(err)
		}
		for _, live := range []int{1, 2, 2} {
			run := w.Run(evidence.Run{Name: fmt.Sprint("B", live)})
			path := fmt.Sprintf("%d/gc.txt", run)
			if err := w.Add(run, evidence.Part{Path: path, Kind: evidence.KindGCTrace},
				func(w io.Writer) error { _, err := io.WriteString(w, collections(live)); return err }); err != nil {
				t.Fatal(err)
			}
		}
		if err := CacheMisses(t.Context(), w, recorded, t.Logf); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(true); err != nil {
			t.Fatal(err)
		}
		b, err := bundle.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for i, run := range b.Manifest.Runs {
			if got := run.CacheMiss != nil; got != want[i] {
				t.Errorf("%v: run %d measured: %v, want %v", recorded, i, got, want[i])
			}
		}
	}
	f(3*time.Second, false, false, false)
	f(5*time.Second, false, true, true) // only time for the shape of most runs
	f(10*time.Second, true, true, true)
}
