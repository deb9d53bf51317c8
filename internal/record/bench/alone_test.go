package bench

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

// TestAlone checks that a benchmark with a small heap also runs unprofiled, with the
// same number of operations, and that one with a large heap or without collections
// does not.
func TestAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/alonetest\n\ngo 1.25\n", "alone_test.go",
		`package alonetest

import "testing"

var (
	sink []byte
	held [][]byte
)

func BenchmarkSmall(b *testing.B) {
	for b.Loop() {
		sink = make([]byte, 8<<10)
	}
}

func BenchmarkLarge(b *testing.B) {
	held = make([][]byte, 32)
	for i := range held {
		held[i] = make([]byte, 1<<20)
	}
	for b.Loop() {
		sink = make([]byte, 8<<10)
	}
	held = nil
}

func BenchmarkStill(b *testing.B) {
	sum := 0
	for b.Loop() {
		for i := range 1000 {
			sum += i * i % 7
		}
	}
	sink = make([]byte, sum&1)
}
`)
	b := recordBenchmarks(t, Options{Dir: dir, Bench: ".", BenchTime: time.Second})
	for _, run := range b.Manifest.Runs {
		var alone, profiled []evidence.Part
		for _, p := range run.Parts {
			switch {
			case p.Pass == evidence.PassAlone:
				alone = append(alone, p)
			case p.Kind == evidence.KindCPU:
				profiled = append(profiled, p)
			}
		}
		small := run.Name == "BenchmarkSmall" && runtime.GOOS == "linux" // only there is the use known
		// On a busy machine the measurement of page faults may fail, with a warning.
		untold := small && run.PageFault == nil && len(b.Manifest.Warnings) > 0
		if (len(alone) == 1) != small || (run.PageFault != nil) != small && !untold {
			t.Errorf("%s: unprofiled %+v, a page fault costs %+v, warnings %q", run.Name, alone, run.PageFault,
				b.Manifest.Warnings)
		}
		for _, p := range alone {
			if p.Kind != evidence.KindBench || len(profiled) != 1 || p.Ops != profiled[0].Ops || p.Wall <= 0 {
				t.Errorf("%s: alone %+v, profiled %+v", run.Name, p, profiled)
			}
			// The runtime accounts for the collector by wall clock. If the process has to wait for
			// a processor, that may be more CPU time than it got.
			if p.Cycles <= 0 || p.Collector <= 0 || p.Collector > p.Wall*time.Duration(runtime.NumCPU()) ||
				p.Profiled <= 0 || p.MinorFaults <= 0 {
				t.Errorf("%s: unprofiled it used %+v", run.Name, p)
			}
		}
	}
}

// TestAloneFails checks that a benchmark that cannot run unprofiled is still recorded,
// with a warning.
func TestAloneFails(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	if runtime.GOOS != "linux" {
		t.Skip("this system does not report what a process used")
	}
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/alonetest\n\ngo 1.25\n", "alone_test.go",
		`package alonetest

import (
	"os"
	"strings"
	"testing"
)

var sink []byte

// BenchmarkShy does not run again after it has run with a log.
func BenchmarkShy(b *testing.B) {
	switch _, err := os.Stat("logged"); {
	case strings.Contains(os.Getenv("GODEBUG"), "gctrace"):
		if err := os.WriteFile("logged", nil, 0o600); err != nil {
			b.Fatal(err)
		}
	case err == nil:
		b.Fatal("I am alone")
	}
	for b.Loop() {
		sink = make([]byte, 8<<10)
	}
}
`)
	b := recordBenchmarks(t, Options{Dir: dir, Bench: ".", BenchTime: time.Second})
	warned := strings.Join(b.Manifest.Warnings, "\n")
	if !strings.Contains(warned, "BenchmarkShy: it could not be run without a profile") || len(b.Manifest.Gaps) > 0 {
		t.Errorf("warnings %q, lacks %q", b.Manifest.Warnings, b.Manifest.Gaps)
	}
	if len(b.Manifest.Runs) != 1 || b.Manifest.Runs[0].PageFault != nil {
		t.Fatalf("runs %+v", b.Manifest.Runs)
	}
	passes := map[string]bool{}
	for _, p := range b.Manifest.Runs[0].Parts {
		passes[p.Pass] = true
	}
	if !passes[evidence.PassTiming] || !passes[evidence.PassAllocation] || !passes[evidence.PassCollector] ||
		passes[evidence.PassAlone] {
		t.Errorf("passes %v", passes)
	}
}
