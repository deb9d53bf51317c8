//go:build heaptrimcheck && !race

package arena_test

import (
	"slices"
	"testing"

	"github.com/heaptrim/heaptrim/rt/arena"
)

// caught runs misuse on an arena and returns what is reported.
func caught(reuse bool, misuse func(a *arena.Arena)) []arena.Kind {
	var kinds []arena.Kind
	a := arena.Make(arena.Options{Reuse: reuse, OnMisuse: func(m *arena.Misuse) { kinds = append(kinds, m.Kind) }})
	misuse(a)
	a.Free()
	return kinds
}

// TestWhenWritesAreFound writes to memory that was taken back, of values with
// pointers and without, and wants each found once, by the next call that ends a
// round or the arena.
func TestWhenWritesAreFound(t *testing.T) {
	f := func(name string, misuse func(a *arena.Arena), want ...arena.Kind) {
		t.Helper()
		for _, reuse := range []bool{false, true} {
			if got := caught(reuse, misuse); !slices.Equal(got, want) {
				t.Errorf("%s, reuse %v: reported %q, want %q", name, reuse, got, want)
			}
		}
	}
	f("by nobody", func(a *arena.Arena) {
		arena.New[node](a).n = 1
		a.Free()
		a.Free()
	})
	f("after Free", func(a *arena.Arena) {
		with, without := arena.New[node](a), arena.New[int](a)
		a.Free()
		with.next = new(node)
		a.Free()
		*without = 1
	}, arena.WriteAfterReset, arena.WriteAfterReset)
	f("to a fork of an earlier round", func(a *arena.Arena) {
		n := arena.New[node](a.Fork())
		a.Reset()
		n.n = 1
		a.Reset()
		n.n = 2
	}, arena.WriteAfterReset, arena.WriteAfterReset)
	f("to a freed fork", func(a *arena.Arena) {
		n := arena.New[node](a.Fork())
		a.Free()
		n.n = 1
	}, arena.WriteAfterReset)
	f("with a fork of a freed arena", func(a *arena.Arena) {
		arena.New[node](a.Fork())
		a.Free()
		arena.New[node](a.Fork())
	}, arena.UseAfterFree)
}
