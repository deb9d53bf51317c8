package arena_test

import (
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/heaptrim/heaptrim/rt/arena"
)

type node struct {
	next *node
	heap *int
	name string
	n    int
}

// arenas returns an arena of each kind that code may be run with.
func arenas() map[string]*arena.Arena {
	return map[string]*arena.Arena{
		"nil":   nil,
		"drop":  new(arena.Arena),
		"reuse": arena.Make(arena.Options{Reuse: true}),
	}
}

// quiet is for arenas that a test drops without Free.
func quiet(reuse bool) *arena.Arena {
	return arena.Make(arena.Options{Reuse: reuse, OnMisuse: func(*arena.Misuse) {}})
}

func TestNewIsZeroAndDistinct(t *testing.T) {
	for name, a := range arenas() {
		for round := range 5 {
			seen := make(map[*node]bool)
			for i := range 3000 {
				n := arena.New[node](a)
				if *n != (node{}) {
					t.Fatalf("%s: round %d: New gave %+v, want zero", name, round, *n)
				}
				if seen[n] {
					t.Fatalf("%s: round %d: New gave the same address twice", name, round)
				}
				seen[n] = true
				*n = node{n, &i, "x", i + 1}
			}
			a.Reset()
		}
		a.Free()
	}
}

func TestMakeSlice(t *testing.T) {
	for name, a := range arenas() {
		for range 3 {
			for _, c := range []int{0, 1, 2, 7, 100, 511, 512, 513, 5000, 100_000} {
				for _, n := range []int{0, c / 2, c} {
					v := arena.MakeSlice[string](a, n, c)
					if v == nil || len(v) != n || cap(v) != c {
						t.Errorf("%s: MakeSlice(%d, %d): len %d, cap %d, nil: %v", name, n, c, len(v), cap(v), v == nil)
					}
					for i, s := range v[:c] {
						if s != "" {
							t.Fatalf("%s: MakeSlice(%d, %d): element %d is %q, want zero", name, n, c, i, s)
						}
						v[:c][i] = "used"
					}
				}
			}
			a.Reset()
		}
		a.Free()
	}
}

func TestMakeSlicePanics(t *testing.T) {
	for name, a := range arenas() {
		f := func(n, c int) {
			t.Helper()
			defer func() {
				if recover() == nil {
					t.Errorf("%s: MakeSlice(%d, %d) did not panic", name, n, c)
				}
			}()
			arena.MakeSlice[int](a, n, c)
		}
		f(-1, 5)
		f(6, 5)
		f(0, -1)
		f(0, math.MaxInt)
		a.Free()
	}
}

// TestAppend grows two slices of one type side by side, so that each is now the
// last allocation and now not.
func TestAppend(t *testing.T) {
	for name, a := range arenas() {
		for range 3 {
			var v, w, wantV, wantW []int
			for i := range 20_000 {
				if i%7 < 4 {
					v, wantV = arena.Append(a, v, i), append(wantV, i)
				} else {
					w, wantW = arena.Append(a, w, -i), append(wantW, -i)
				}
				if i%1000 == 0 {
					v, wantV = arena.AppendSlice(a, v, w), append(wantV, wantW...)
				}
			}
			if !slices.Equal(v, wantV) || !slices.Equal(w, wantW) {
				t.Errorf("%s: appended slices differ from those of the built-in append", name)
			}
			a.Reset()
		}
		a.Free()
	}
}

func TestAppendGrowsInPlace(t *testing.T) {
	var a arena.Arena
	defer a.Free()
	v := arena.MakeSlice[int](&a, 0, 4)
	for i := range 40 {
		w := arena.Append(&a, v, i)
		if i > 0 && &w[0] != &v[0] {
			t.Fatalf("the slab's last slice moved when it grew to %d elements", len(w))
		}
		v = w
	}
	first := v[:1:1]
	if w := arena.Append(&a, first, 99); v[1] != 1 || w[1] != 99 {
		t.Errorf("Append to a slice without room wrote behind it: %v, %v", v[:2], w)
	}
}

// TestAppendTwice appends twice to one full slice: the results must not share
// what was appended.
func TestAppendTwice(t *testing.T) {
	for name, a := range arenas() {
		base := arena.MakeSlice[int](a, 3, 3)
		x := arena.Append(a, base, 1)
		y := arena.Append(a, base, 2)
		if x[3] != 1 || y[3] != 2 {
			t.Errorf("%s: got %v and %v, want 1 and 2 at the end", name, x, y)
		}
		a.Free()
	}
}

func TestCloneAndString(t *testing.T) {
	for name, a := range arenas() {
		if v := arena.Clone[int](a, nil); v != nil {
			t.Errorf("%s: the clone of nil is %v", name, v)
		}
		if v := arena.Clone(a, []int{}); v == nil || len(v) != 0 {
			t.Errorf("%s: the clone of an empty slice is %#v", name, v)
		}
		v := []int{1, 2, 3}
		w := arena.Clone(a, v)
		b := []byte("hello")
		s, long := arena.String(a, b), arena.String(a, []byte(strings.Repeat("x", 100_000)))
		c := arena.CloneString(a, s)
		v[0], b[0] = 9, 'X'
		if !slices.Equal(w, []int{1, 2, 3}) || s != "hello" || c != "hello" || len(long) != 100_000 || arena.String(a, nil) != "" {
			t.Errorf("%s: got %v, %q, %q, %d", name, w, s, c, len(long))
		}
		a.Free()
	}
}

func TestOddSizes(t *testing.T) {
	for _, a := range arenas() {
		oddSize[struct{}](t, a)
		oddSize[byte](t, a)
		oddSize[[3]byte](t, a)
		oddSize[[1 << 10]*int](t, a)
		oddSize[[5000]int](t, a)
		oddSize[[1 << 20]byte](t, a)
		a.Free()
	}
}

func oddSize[T comparable](t *testing.T, a *arena.Arena) {
	t.Helper()
	var zero T
	for range 20 {
		p, q := arena.New[T](a), arena.New[T](a)
		v := arena.MakeSlice[T](a, 3, 5)
		v = arena.Append(a, v, *p)
		if *p != zero || *q != zero || len(v) != 4 || v[3] != zero {
			t.Errorf("%T: not zero", zero)
		}
		if len(v) < 1<<10 {
			a.Reset()
		}
	}
}

// TestManyTypes has more types than the first tables have room for.
func TestManyTypes(t *testing.T) {
	for name, a := range arenas() {
		for range 3 {
			var check []func() bool
			check = append(check, manyTypes[byte](a)...)
			check = append(check, manyTypes[*byte](a)...)
			check = append(check, manyTypes[string](a)...)
			check = append(check, manyTypes[[]int](a)...)
			check = append(check, manyTypes[any](a)...)
			check = append(check, manyTypes[map[int]int](a)...)
			check = append(check, manyTypes[node](a)...)
			for i, ok := range check {
				if !ok() {
					t.Errorf("%s: type %d: a value was overwritten", name, i)
				}
			}
			a.Reset()
		}
		a.Free()
	}
}

func manyTypes[T any](a *arena.Arena) []func() bool {
	return slices.Concat(
		manyArrays[T](a), manyArrays[[6]T](a), manyArrays[[7]T](a), manyArrays[struct {
			x T
			y int
		}](a))
}

func manyArrays[T any](a *arena.Arena) []func() bool {
	return []func() bool{kept[T](a), kept[[2]T](a), kept[[3]T](a), kept[[4]T](a), kept[*T](a), kept[chan T](a)}
}

type tagged[T any] struct {
	_  T
	id int
}

func kept[T any](a *arena.Arena) func() bool {
	p, q := arena.New[tagged[T]](a), arena.New[tagged[T]](a)
	ok := p != q && p.id == 0 && q.id == 0
	p.id, q.id = 1, 2
	return func() bool { return ok && p.id == 1 && q.id == 2 }
}

func TestSlabOfIsTheArenas(t *testing.T) {
	for name, a := range arenas() {
		s := arena.SlabOf[node](a)
		for range 3 {
			p, q := arena.New[node](a), s.New()
			if p == q || *p != (node{}) || *q != (node{}) {
				t.Errorf("%s: slab and arena hand out the same or used memory", name)
			}
			p.n, q.n = 1, 2
			a.Reset()
		}
		if a != nil && arena.SlabOf[node](a) != s {
			t.Errorf("%s: the slab changed", name)
		}
		a.Free()
	}
}

func TestFork(t *testing.T) {
	for name, a := range arenas() {
		for range 4 {
			done := make(chan *node)
			for g := range 4 {
				f := a.Fork()
				go func() {
					var list *node
					for i := range 1000 {
						n := arena.New[node](f)
						n.next, n.n, n.heap = list, g*1000+i, new(int)
						n.name = arena.String(f, []byte("name"))
						list = n
					}
					done <- list
				}()
			}
			seen := make(map[int]bool)
			for range 4 {
				for n := <-done; n != nil; n = n.next {
					seen[n.n] = n.name == "name" && *n.heap == 0
				}
			}
			if len(seen) != 4000 {
				t.Errorf("%s: %d values, want 4000", name, len(seen))
			}
			a.Reset()
		}
		a.Free()
	}
}

// TestPointersAreSeen hides ordinary objects in arenas and collects.
func TestPointersAreSeen(t *testing.T) {
	for name, a := range arenas() {
		var list *node
		var seen []weak.Pointer[int]
		for i := range 2000 {
			n := arena.New[node](a)
			n.heap, n.next, list = new(int), list, n
			*n.heap = i
			seen = append(seen, weak.Make(n.heap))
		}
		runtime.GC()
		for i, w := range seen {
			if p := w.Value(); p == nil || *p != i {
				t.Fatalf("%s: object %d, which only the arena points to, was collected", name, i)
			}
		}
		runtime.KeepAlive(list)
		a.Free()
	}
}

// TestResetLetsGo wants what only arena values point to collected after Reset,
// even by an arena that keeps its slabs.
func TestResetLetsGo(t *testing.T) {
	for _, reuse := range []bool{false, true} {
		a := quiet(reuse)
		var held []weak.Pointer[[1 << 12]int]
		func() {
			for range 100 {
				p := new([1 << 12]int)
				held = append(held, weak.Make(p))
				*arena.New[*[1 << 12]int](a) = p
			}
		}()
		a.Reset()
		runtime.GC()
		for i, w := range held {
			if w.Value() != nil {
				t.Fatalf("reuse %v: object %d is still allocated after Reset", reuse, i)
			}
		}
		a.Free()
	}
}

func TestFreeTwice(t *testing.T) {
	for _, a := range arenas() {
		arena.New[node](a)
		a.Free()
		a.Free()
	}
	var s arena.Slab[int]
	s.New()
	s.Free()
	s.Free()
}
