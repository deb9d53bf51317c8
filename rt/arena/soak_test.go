package arena_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/rt/arena"
)

// TestSoak runs workers with an arena each, and forks of one arena, while the
// collector runs without pause: for seconds, or as long as HEAPTRIM_SOAK says, 1h
// for one.
func TestSoak(t *testing.T) {
	end := time.Now().Add(soakTime(t))
	var wait sync.WaitGroup
	wait.Go(func() {
		for time.Now().Before(end) {
			runtime.GC()
		}
	})
	for seed := range 4 {
		wait.Go(func() {
			a := arena.Make(arena.Options{Reuse: seed%2 == 0})
			defer a.Free()
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			for time.Now().Before(end) && !t.Failed() {
				soakRound(t, a, r)
			}
		})
	}
	wait.Wait()
}

func soakTime(t *testing.T) time.Duration {
	t.Helper()
	if s := os.Getenv("HEAPTRIM_SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("HEAPTRIM_SOAK: %v", err)
		}
		return d
	}
	if testing.Short() {
		return 200 * time.Millisecond
	}
	return 2 * time.Second
}

// soakRound builds a tree with a fork on the way and checks it.
func soakRound(t *testing.T, a *arena.Arena, r *rand.Rand) {
	depth := 3 + r.IntN(8)
	f := a.Fork()
	done := make(chan *branch)
	go func() { done <- buildTree(f, treeName(), depth) }()
	mine := buildTree(a, treeName(), depth)
	lists := make([][]*int, 4)
	for i := range 200 {
		k := r.IntN(len(lists))
		p := new(int)
		*p = i
		lists[k] = arena.Append(a, lists[k], p)
	}
	if got, want := walkTree(<-done), walkTree(mine); got != want {
		t.Errorf("the tree of the fork sums to %d, want %d", got, want)
	}
	n := 0
	for _, l := range lists {
		last := -1
		for _, p := range l {
			if *p <= last {
				t.Errorf("a list has %d after %d", *p, last)
			}
			last = *p
			n++
		}
	}
	if n != 200 {
		t.Errorf("lists have %d elements, want 200", n)
	}
	a.Reset()
}
