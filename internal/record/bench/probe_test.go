package bench

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/internal/gocmd"
)

// The benchmark whose name came last and has no result is the one that hangs.
func TestUnfinished(t *testing.T) {
	found := []probed{{name: "BenchmarkA/x"}}
	for _, c := range []struct{ out, want string }{
		{"goos: linux\n", "benchmarks"},
		{"BenchmarkA\nBenchmarkA/x\nBenchmarkA/x-2 \t 1 5 ns/op\n", "benchmarks after BenchmarkA/x"},
		{"BenchmarkA\nBenchmarkA/x\nBenchmarkA/x-2 \t 1 5 ns/op\nBenchmarkB\nlog line\n", "BenchmarkB"},
	} {
		if got := unfinished([]byte(c.out), found); got != c.want {
			t.Errorf("unfinished(%q) = %q, want %q", c.out, got, c.want)
		}
	}
}

// A whole benchmark comes before its parts, which package testing would take first otherwise.
func TestSkipPattern(t *testing.T) {
	found := []probed{{name: "BenchmarkA"}, {name: "BenchmarkB/x"}, {name: "BenchmarkB/y"}, {name: "BenchmarkC/x"}}
	got := skipPattern(found, []string{"BenchmarkC/hangs", "BenchmarkB"})
	if want := "^BenchmarkA$|^BenchmarkB$|^BenchmarkC$/^hangs$|^BenchmarkC$/^x$"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	regexp.MustCompile(got)
}

// A benchmark with an operation that the budget has no room for leaves it to the others.
func TestDrop(t *testing.T) {
	all := []probed{{name: "BenchmarkSlow", nsPerOp: 10e9}, {name: "BenchmarkFast", nsPerOp: 100}, {name: "BenchmarkOther", nsPerOp: 200}}
	chosen, _ := plan(all, 20*time.Second, gocmd.BenchTime{})
	kept, leftOut := drop(chosen, 20*time.Second)
	if len(kept) != 2 || !slices.Equal(namesOf(leftOut), []string{"BenchmarkSlow"}) {
		t.Errorf("kept %d, left out %v", len(kept), namesOf(leftOut))
	}
	if kept, leftOut = drop(chosen[:1], time.Second); len(kept) != 1 || len(leftOut) != 0 {
		t.Errorf("the only one: kept %d, left out %v", len(kept), namesOf(leftOut))
	}
}

// Every allocation is recorded where one operation does not make millions.
func TestAllocRate(t *testing.T) {
	p := planned{probed: probed{bytesPerOp: 1e4, allocsPerOp: 100}, allocOps: 1000}
	if got := p.allocRate(); got != 1 {
		t.Errorf("100,000 allocations: rate %d, want 1", got)
	}
	p = planned{probed: probed{bytesPerOp: 2.6e9, allocsPerOp: 46e6}, allocOps: 1}
	if got := p.allocRate(); got != 8192 {
		t.Errorf("46 million allocations of 2.6 GB: rate %d, want 8192", got)
	}
}

// TestProbeShare: packages that take all that they may leave a quarter of the time for recording.
func TestProbeShare(t *testing.T) {
	for _, n := range []int{1, 2, 24, 300} {
		took := time.Duration(0)
		for i := range n {
			share := probeShare(time.Minute, took, i, n)
			if share < time.Minute/time.Duration(4*n) {
				t.Errorf("package %d of %d has %v", i, n, share)
			}
			took += share
		}
		if took > 45*time.Second {
			t.Errorf("%d packages are tried for %v of a minute", n, took)
		}
	}
	if got := probeShare(time.Minute, 0, 0, 2); got != 30*time.Second {
		t.Errorf("the first of two has %v", got)
	}
}

// TestFailureText: what package testing says of a benchmark that fails is not hidden by what the program prints.
func TestFailureText(t *testing.T) {
	out := "goos: linux\nBenchmarkOne-2 \t--- FAIL: BenchmarkWalk\n    walk_test.go:12: no such folder\n" + strings.Repeat("walking\n", 30) + "FAIL\n"
	got := failureText(ran{out: []byte(out), err: []byte("scanning\n")})
	if lines := strings.Split(got, "\n"); len(lines) > 21 || !strings.HasSuffix(got, "--- FAIL: BenchmarkWalk\nwalk_test.go:12: no such folder") {
		t.Errorf("%d lines:\n%s", len(lines), got)
	}
}
