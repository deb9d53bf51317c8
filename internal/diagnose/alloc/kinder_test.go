package alloc

import (
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/heaptrim/heaptrim/internal/diagnose/stack"
	"github.com/heaptrim/heaptrim/internal/evidence"
	"github.com/heaptrim/heaptrim/internal/finding"
)

// TestPointersOnRealStacks allocates known values with every allocation
// recorded and asks the kinder what the runtime's own lines say of them.
func TestPointersOnRealStacks(t *testing.T) {
	if stack.MinorVersion(runtime.Version()) < 26 {
		t.Skip("raw stacks end below the allocator before Go 1.26")
	}
	records := recordAllocations(t)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("the toolchain's own source is needed: %v", err)
	}
	k := NewKinder(strings.TrimSpace(string(root)), runtime.Version())
	f := func(function string, want finding.Tri) {
		t.Helper()
		locs, ok := records[function]
		if !ok {
			t.Fatalf("no allocation of %s was recorded", function)
		}
		if got := k.Pointers(locs); got != want {
			t.Errorf("%s: pointers %v, want %v (%s)", function, got, want, locs[0].Frames[0].Function)
		}
	}
	const pkg = "github.com/heaptrim/heaptrim/internal/diagnose/alloc."
	f(pkg+"allocBytes", finding.No)
	f(pkg+"allocPointers", finding.Yes)
	f(pkg+"growBytes", finding.No)
	f(pkg+"growPointers", finding.Yes)
	f(pkg+"copyToString", finding.No)
}

//go:noinline
func allocBytes(n int) []byte { return make([]byte, n) }

//go:noinline
func allocPointers(n int) []*int { return make([]*int, n) }

//go:noinline
func growBytes(b []byte) []byte { return append(b, make([]byte, 100)...) }

//go:noinline
func growPointers(p []*int) []*int { return append(p, make([]*int, 100)...) }

//go:noinline
func copyToString(b []byte) string { return string(b) }

var keep []any

// recordAllocations returns the raw locs of an allocation of each function
// above.
func recordAllocations(t *testing.T) map[string][]*evidence.Location {
	t.Helper()
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	for range 50 {
		keep = append(keep, allocBytes(300), allocPointers(40), growBytes([]byte("x")), growPointers(nil),
			copyToString(allocBytes(99)))
	}
	runtime.MemProfileRate = rate
	runtime.GC()
	runtime.GC()
	keep = nil
	records := make([]runtime.MemProfileRecord, 20000)
	n, ok := runtime.MemProfile(records, true)
	if !ok {
		t.Fatalf("more than %d allocation records", len(records))
	}
	out := map[string][]*evidence.Location{}
	for _, r := range records[:n] {
		var locs []*evidence.Location
		site := ""
		frames := runtime.CallersFrames(r.Stack())
		for {
			f, more := frames.Next()
			locs = append(locs, &evidence.Location{Frames: []evidence.Frame{{Function: f.Function, File: f.File,
				Line: f.Line}}})
			if site == "" && !stack.IsRuntime(stack.PackageOf(f.Function), f.Function) {
				site = f.Function
			}
			if !more {
				break
			}
		}
		if !collects(locs) {
			out[site] = locs
		}
	}
	return out
}

// collects says whether a locs leads through the collector: where an allocation
// starts, helps or ends a collection and has to wait, the runtime makes an object
// of its own, which nobody's line asked for.
func collects(locs []*evidence.Location) bool {
	return slices.ContainsFunc(locs, func(l *evidence.Location) bool { return ofCollector(l.Frames[0].Function) })
}

func ofCollector(function string) bool { return strings.HasPrefix(function, "runtime.gc") }
