// Package alloctest holds functions to what they may allocate, in tests.
//
//	func TestParse(t *testing.T) {
//		alloctest.Max(t, 2, func() { Parse(input) })
//	}
//
// What testing.AllocsPerRun only counts, it also finds: the failure lists the stacks that allocate.
// It depends on nothing but the standard library.
package alloctest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// runs is how often a function is counted. The least count holds: what other goroutines allocate
// makes some of them larger, and none smaller.
const runs = 10

// Max reports an error if f allocates more than limit objects each time it is called, with the
// stacks that allocate. f is called once before that, to fill what it keeps for later calls.
//
// Max counts the whole process, with one processor for Go code. It must not be called from parallel
// tests. With the race detector functions allocate more, and nothing is counted.
func Max(t testing.TB, limit int, f func()) {
	t.Helper()
	if limit < 0 {
		t.Fatalf("alloctest.Max: a limit of %d objects", limit)
		return
	}
	if race {
		t.Log("not counted with the race detector")
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	f()
	least := count(f)
	for range runs - 1 {
		if least <= uint64(limit) {
			return
		}
		least = min(least, count(f))
	}
	if least > uint64(limit) {
		text, seen := stacks(f)
		if seen < float64(least)-0.5 {
			text += "Objects below 16 bytes share blocks, and are part of one above.\n"
		}
		t.Errorf("%d objects allocated, want at most %d:\n%s", least, limit, text)
	}
}

// count is what one call allocates.
func count(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// site is a stack that allocates.
type site struct {
	objects, bytes float64 // of one call
	frames         []runtime.Frame
}

// rounds is how often f is recorded. Small objects share a block of 16 bytes, of which only the
// first is seen: before each call another part of a block is taken, so that each is the first in some.
const rounds = 64

// stacks records what f allocates, most first, and how many objects of a call it has seen.
func stacks(f func()) (list string, seen float64) {
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 1
	defer func() { runtime.MemProfileRate = rate }()
	before := profile()
	var taken []byte
	for i := range rounds {
		taken = pad(i % 16)
		f()
	}
	runtime.KeepAlive(taken)
	after := profile()
	var all []site
	for stack, r := range after {
		was := before[stack]
		s := site{float64(r.AllocObjects-was.AllocObjects) / rounds, float64(r.AllocBytes-was.AllocBytes) / rounds, frames(r.Stack())}
		if s.objects > 0 && !ours(s.frames) {
			all = append(all, s)
			seen += s.objects
		}
	}
	slices.SortFunc(all, func(a, b site) int {
		switch {
		case a.objects > b.objects:
			return -1
		case a.objects < b.objects:
			return 1
		}
		return strings.Compare(a.String(), b.String())
	})
	var text strings.Builder
	const most = 8
	for i, s := range all {
		if i == most {
			fmt.Fprintf(&text, "and %d more stacks\n", len(all)-most)
			break
		}
		text.WriteString(s.String())
	}
	if text.Len() == 0 {
		return "no stack was recorded\n", seen
	}
	return text.String(), seen
}

// pad takes n bytes, less than 16, of a block of small objects.
//
//go:noinline
func pad(n int) []byte { return make([]byte, n) }

// profile is the record of all allocations so far, by stack. The record of allocations becomes
// visible with the second collection after them.
func profile() map[[32]uintptr]runtime.MemProfileRecord {
	runtime.GC()
	runtime.GC()
	records := make([]runtime.MemProfileRecord, 1024)
	for {
		n, ok := runtime.MemProfile(records, true)
		if ok {
			records = records[:n]
			break
		}
		records = make([]runtime.MemProfileRecord, n+n/2)
	}
	all := make(map[[32]uintptr]runtime.MemProfileRecord, len(records))
	for _, r := range records {
		have := all[r.Stack0]
		r.AllocBytes += have.AllocBytes
		r.AllocObjects += have.AllocObjects
		all[r.Stack0] = r
	}
	return all
}

func frames(stack []uintptr) []runtime.Frame {
	var out []runtime.Frame
	iter := runtime.CallersFrames(stack)
	for {
		f, more := iter.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") && !strings.HasPrefix(f.Function, "internal/runtime/") {
			out = append(out, f)
		}
		if !more {
			return out
		}
	}
}

// own begins the names of this package's functions.
const own = "github.com/heaptrim/heaptrim/rt/alloctest."

// ours reports whether a stack is of this package's own work: f is called by stacks, and nothing
// else of it.
func ours(list []runtime.Frame) bool {
	for _, f := range list {
		if strings.HasPrefix(f.Function, own) {
			return f.Function != own+"stacks"
		}
	}
	return true // of another goroutine
}

// String is the stack down to the call of f, as a panic prints stacks.
func (s site) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%.3g objects, %.0f bytes:\n", s.objects, s.bytes)
	for _, f := range s.frames {
		if strings.HasPrefix(f.Function, own) {
			break
		}
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}
