//go:build (amd64 || arm64) && !heaptrimcheck && !race && !heaptrimnoseats

package pool

import (
	"runtime"
	"sync"
	"testing"
	"time"
	"weak"
)

// A goroutine that keeps using a pool gets a stash, which nobody else uses, and keeps it
// over collections for as long as it uses it.
func TestValuesSeat(t *testing.T) {
	skipUnseated(t)
	var p Values[[]int]
	for range 200 {
		p.use(1)
	}
	if p.own() != nil {
		t.Fatal("200 uses, and the goroutine has a stash")
	}
	p.use(3000)
	s := p.own()
	if s == nil {
		t.Fatal("3200 uses, and the goroutine has no stash")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		p.use(3000)
		if other := p.own(); other == nil || other == s {
			t.Errorf("another goroutine has %p, the first %p", other, s)
		}
	})
	wg.Wait()
	for range 20 {
		runtime.GC()
		for range 5 {
			p.use(10)
			time.Sleep(time.Millisecond) // for the cleanup that calls turn
		}
		if again := p.own(); again != s {
			t.Fatalf("the goroutine has %p after a collection, before it %p", again, s)
		}
	}
	if n := p.Stats().Misses; n > 2 {
		t.Errorf("%d values were made, want one for each goroutine", n)
	}
}

// Once a goroutine has a stash, neither its uses nor those of others allocate.
func TestValuesAllocations(t *testing.T) {
	skipUnseated(t)
	var p Values[[7]*int]
	p.use(3000)
	var out [2 * stashLen][7]*int
	if n := testing.AllocsPerRun(1000, func() { p.use(1) }); n != 0 {
		t.Errorf("%v allocations for a value, want 0", n)
	}
	many := func() {
		for i := range out {
			out[i] = p.Get()
		}
		for i := range out {
			p.Put(out[i])
		}
	}
	if n := testing.AllocsPerRun(1000, many); n != 0 {
		t.Errorf("%v allocations for %d values, want 0", n, len(out))
	}
}

// Who does not use the pool any more has no stash after some collections, and nothing is
// left of what was in it; a pool that nobody has any more is collected.
func TestValuesSeatIsLost(t *testing.T) {
	skipUnseated(t)
	var p Values[*[64]int]
	p.use(3000)
	if p.own() == nil {
		t.Fatal("no stash")
	}
	v := new([64]int)
	w := weak.Make(v)
	p.Put(v)
	v = nil
	collectUntil(t, "the stash and the value are gone", func() bool { return p.own() == nil && w.Value() == nil })
	if p.holders.seats.Load() != nil {
		t.Error("nobody has a stash, and all look for theirs")
	}
	runtime.KeepAlive(&p)

	gone := func() weak.Pointer[rows] {
		var p Values[int]
		p.use(3000)
		return weak.Make(p.holders.shared.Load())
	}()
	collectUntil(t, "the pool is gone", func() bool { return gone.Value() == nil })
}

// A goroutine that only puts what others get has no stash for long.
func TestValuesOnlyPut(t *testing.T) {
	skipUnseated(t)
	var p Values[int]
	p.use(3000)
	if p.own() == nil {
		t.Fatal("no stash")
	}
	next := make(chan []int)
	var wg sync.WaitGroup
	wg.Go(func() {
		batch := make([]int, 8)
		for range 1000 {
			for i := range batch {
				batch[i] = p.Get()
			}
			next <- batch
			batch = <-next
		}
		close(next)
	})
	seatless := 0
	for batch := range next {
		for _, v := range batch {
			p.Put(v)
		}
		if p.own() == nil {
			seatless++
		}
		next <- batch
	}
	wg.Wait()
	if seatless < 900 {
		t.Errorf("after %d of 1000 batches, the goroutine that puts has no stash, want most", seatless)
	}
}
