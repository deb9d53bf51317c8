//go:build !heaptrimcheck && !race

package arena_test

import (
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/rt/arena"
)

// These tests do on purpose what checking mode reports, or measure what it
// changes.

func TestDropKeepsOldValues(t *testing.T) {
	for _, end := range []func(*arena.Arena){(*arena.Arena).Reset, (*arena.Arena).Free} {
		var a arena.Arena
		var stale []*node
		var names []string
		for round := range 20 {
			for i := range 300 {
				n := arena.New[node](&a)
				*n = node{heap: new(int), n: round*300 + i, name: "n"}
				*n.heap = n.n
				stale = append(stale, n)
				names = append(names, arena.String(&a, []byte{byte(round), byte(i)}))
			}
			end(&a)
			runtime.GC()
		}
		for i, n := range stale {
			if n.n != i || *n.heap != i || n.name != "n" || names[i] != string([]byte{byte(i / 300), byte(i % 300)}) {
				t.Fatalf("stale object %d is %+v, string %q", i, *n, names[i])
			}
		}
	}
}

// TestReuseStaysTyped writes through stale pointers while others use the memory:
// the values get mixed up, but each stays a proper value of its type.
func TestReuseStaysTyped(t *testing.T) {
	a := arena.Make(arena.Options{Reuse: true})
	defer a.Free()
	var stale []*node
	for round := range 50 {
		for i := range 200 {
			n := arena.New[node](a)
			n.heap, n.name, n.n = new(int), "some name", i
			*n.heap = 7
			stale = append(stale, n)
			arena.New[[4]uint64](a)[i%4] = 0xdeadbeefdeadbeef
		}
		for _, n := range stale {
			if n.heap != nil && *n.heap != 7 || n.name != "" && n.name != "some name" {
				t.Fatalf("round %d: %+v is no value of the type", round, *n)
			}
			n.next = stale[0]
		}
		a.Reset()
		runtime.GC()
	}
}

func TestSteadyReuseAllocatesNothing(t *testing.T) {
	lens := []int{1, 3, 10, 100, 1000, 10_000, 50_000}
	a := arena.Make(arena.Options{Reuse: true})
	defer a.Free()
	name := treeName()
	round := func() {
		buildTree(a, name, 10)
		for _, n := range lens {
			arena.MakeSlice[*node](a, n, n)
			var v []int
			for i := range n {
				v = arena.Append(a, v, i)
			}
		}
		f := a.Fork()
		buildTree(f, name, 5)
		a.Reset()
	}
	for range 5 {
		round()
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("a round makes %v allocations of the runtime, want 0", n)
	}
}

func TestDropBudget(t *testing.T) {
	var a arena.Arena
	name := treeName()
	round := func() {
		buildTree(&a, name, 10) // 1023 * (56 + 40 + 40 + 22) bytes
		a.Reset()
	}
	round()
	if n := testing.AllocsPerRun(20, round); n > 8 {
		t.Errorf("a round of 162 kB makes %v allocations of the runtime, want one per 32 KiB and type", n)
	}
}

// TestSmallRounds wants a slab that is used little to stay small, whatever it
// was used for once.
func TestSmallRounds(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		a := arena.Make(arena.Options{Reuse: reuse})
		burst := func(n int) {
			for range n {
				arena.New[node](a)
			}
			arena.MakeSlice[int](a, n, n)
		}
		burst(100_000)
		peak := a.HeldBytes()
		a.Reset()
		for range 16 * idle {
			burst(10)
			a.Reset()
		}
		burst(10)
		if got := a.HeldBytes(); got > 80<<10 {
			t.Errorf("reuse %v: %d bytes held in small use after a burst to %d", reuse, got, peak)
		}
		a.Free()
		if got := a.HeldBytes(); got != 0 {
			t.Errorf("reuse %v: %d bytes held after Free", reuse, got)
		}
	}
}

const idle = 16 // rounds after which half is given back

// TestReuseMixedSizes gives rounds of different shape to one arena: it must not
// grow for ever.
func TestReuseMixedSizes(t *testing.T) {
	a := arena.Make(arena.Options{Reuse: true})
	defer a.Free()
	var held []int64
	for round := range 400 {
		for i := range 50 {
			n := (i*37+round*101)%3000 + 1
			clearly(t, arena.MakeSlice[int](a, n, n))
		}
		a.Reset()
		held = append(held, a.HeldBytes())
	}
	if early, late := slices.Max(held[:100]), slices.Max(held[300:]); late > early*5/4 {
		t.Errorf("held %d bytes early and %d late", early, late)
	}
}

func clearly(t *testing.T, v []int) {
	t.Helper()
	for i := range v {
		if v[i] != 0 {
			t.Fatalf("element %d is %d, want 0", i, v[i])
		}
		v[i] = 1
	}
}

// TestSlabModes wants of Reset what the mode of the slab promises: the same
// memory, zeroed, or memory of its own for what is kept.
func TestSlabModes(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		s := arena.MakeSlab[node](arena.Options{Reuse: reuse})
		first := s.New()
		first.n = 1
		s.Reset()
		second := s.New()
		if second.n != 0 || (first == second) != reuse {
			t.Errorf("reuse %v: after Reset New gives the same memory: %v, with %d in it, want 0", reuse, first == second, second.n)
		}
		if second.n = 2; !reuse && first.n != 1 {
			t.Errorf("drop mode: what is kept beyond Reset is %d, want 1", first.n)
		}
		s.Free()
		if first.n != map[bool]int{false: 1, true: 2}[reuse] {
			t.Errorf("reuse %v: what is kept beyond Free is %d", reuse, first.n)
		}
	}
}

func TestSteadySlabAllocatesNothing(t *testing.T) {
	s := arena.MakeSlab[node](arena.Options{Reuse: true})
	defer s.Free()
	round := func() {
		for range 5000 {
			s.New()
		}
		s.MakeSlice(3000, 3000)
		s.Reset()
	}
	round()
	round()
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("a round makes %v allocations of the runtime, want 0", n)
	}
}

// A cleanup of a value runs when nothing points into its chunk any more, as documented.
func TestCleanupOfValue(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		s := arena.MakeSlab[node](arena.Options{Reuse: reuse})
		var done atomic.Bool
		kept := s.New()
		runtime.AddCleanup(s.New(), func(int) { done.Store(true) }, 0)
		s.Reset()
		for range 5 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		if done.Load() {
			t.Errorf("reuse %v: the cleanup of a value ran while another of its chunk was in use", reuse)
		}
		runtime.KeepAlive(kept)
		s.Free()
		for range 1000 {
			if runtime.GC(); done.Load() {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !done.Load() {
			t.Errorf("reuse %v: the cleanup did not run after Free", reuse)
		}
	}
}

// Slices of elements without size may be as long as an int counts.
func TestAppendWithoutSize(t *testing.T) {
	for _, n := range []int{0, 1, 5, math.MaxInt/2 + 1, math.MaxInt - 1} {
		s := arena.MakeSlab[struct{}](arena.Options{})
		s.New()
		v := s.Append(make([]struct{}, n), struct{}{})
		if len(v) != n+1 {
			t.Errorf("Append to %d elements has %d", n, len(v))
		}
	}
}
