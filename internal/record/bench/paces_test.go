package bench

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/bundle"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/gocmd"
	"github.com/heaptrim/heaptrim/internal/record/recorder"
	"github.com/heaptrim/heaptrim/internal/record/recordtest"
)

// TestCycleCost checks that a benchmark that collects often also runs with two GOGC
// values, and one that does not is skipped.
func TestCycleCost(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and measures programs")
	}
	dir := recordtest.WriteTree(t, "go.mod", "module example.com/pacetest\n\ngo 1.25\n", "pace_test.go",
		`package pacetest

import "testing"

var sink []byte

func BenchmarkChurn(b *testing.B) {
	for b.Loop() {
		sink = make([]byte, 8<<10)
	}
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
	checkCycleCosts(t, recordBenchmarks(t, Options{Dir: dir, Bench: ".", BenchTime: gocmd.BenchTime{Time: 2 * time.Second}}))
}

// checkCycleCosts checks that only BenchmarkChurn has a cycle cost. A busy machine may
// leave too few pairs of stretches; then there must be a warning.
func checkCycleCosts(t *testing.T, b *bundle.Bundle) {
	t.Helper()
	few := strings.Contains(strings.Join(b.Manifest.Warnings, "\n"), errFewPairs.Error())
	for _, run := range b.Manifest.Runs {
		c := run.CycleCost
		if want := run.Name == "BenchmarkChurn"; (c != nil) != want && !(want && few) {
			t.Errorf("%s: a cycle costs %+v, warnings %q", run.Name, c, b.Manifest.Warnings)
			continue
		}
		if c != nil && (c.Pairs < 6 || c.Times != paceTimes || !(c.NS.Low <= c.NS.Value && c.NS.Value <= c.NS.High)) {
			t.Errorf("%s: %+v", run.Name, c)
		}
		for _, p := range run.Parts {
			counted := p.Kind == evidence.KindCPU && p.Profiled > 0 && runtime.GOOS == "linux"
			if counted && run.Name == "BenchmarkChurn" && (p.Cycles == 0 || p.Collector == 0) {
				t.Errorf("%s: %d collections of %v were counted while it was profiled", run.Name, p.Cycles, p.Collector)
			}
		}
	}
}

// TestFewPairs distinguishes a recording that is too short from a damaged one.
func TestFewPairs(t *testing.T) {
	f := func(text string, few bool) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "paces.jsonl")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := costOf(recorder.Result{Files: recorder.Leavings{Paces: name}, Wall: time.Second}, time.Second)
		if err == nil || errors.Is(err, errFewPairs) != few {
			t.Errorf("%q: %v", text, err)
		}
	}
	f("", true)
	f(`{"t_ns":5,"gogc":100,"cpu_ns":5,"cycles":1,"bytes":5}`+"\n", true)
	f("{\n", false)
}

func TestPairTime(t *testing.T) {
	f := func(distance, want time.Duration) {
		t.Helper()
		if got := pairTime(distance); got != want {
			t.Errorf("collections every %v: a pair takes %v, want %v", distance, got, want)
		}
	}
	f(0, 80*time.Millisecond)
	f(10*time.Millisecond, 100*time.Millisecond)
	f(100*time.Millisecond, 800*time.Millisecond)
}

func TestMemoryFor(t *testing.T) {
	f := func(e evidence.Environment, want int64) {
		t.Helper()
		if got := memoryFor(e); got != want {
			t.Errorf("%d bytes, limited to %d: %d, want %d", e.MemoryBytes, e.CgroupLimit, got, want)
		}
	}
	f(evidence.Environment{}, 0) // unknown memory: none may be used
	f(evidence.Environment{MemoryBytes: 8 << 30}, 2<<30)
	f(evidence.Environment{MemoryBytes: 8 << 30, CgroupLimit: 1 << 30}, 256<<20)
}
