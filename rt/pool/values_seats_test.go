//go:build (amd64 || arm64) && !heaptrimcheck && !race && !heaptrimnoseats

package pool

import (
	"runtime"
	"sync"
	"testing"
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
	much := func() { p.use(3000) }
	s := sit(t, much, p.own)
	if other := sitBeside(much, p.own); other == nil || other == s {
		t.Errorf("another goroutine has %p, the first %p", other, s)
	}
	before := p.Stats().Misses
	for range 20 {
		collect(t, &p.holders.shared.Load().cycle)
		p.use(10)
		if again := p.own(); again != s {
			t.Fatalf("the goroutine has %p after a collection, before it %p", again, s)
		}
	}
	if got := p.Stats().Misses; got != before {
		t.Errorf("%d values were made by a goroutine that has a stash, want none", got-before)
	}
}

// Once a goroutine has a stash, neither its uses nor those of others allocate.
func TestValuesAllocations(t *testing.T) {
	skipUnseated(t)
	var p Values[[7]*int]
	sit(t, func() { p.use(3000) }, p.own)
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
	sit(t, func() { p.use(3000) }, p.own)
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
		sit(t, func() { p.use(3000) }, p.own)
		return weak.Make(p.holders.shared.Load())
	}()
	collectUntil(t, "the pool is gone", func() bool { return gone.Value() == nil })
}

// A goroutine that only puts what others get has no stash for long.
func TestValuesOnlyPut(t *testing.T) {
	skipUnseated(t)
	var p Values[int]
	sit(t, func() { p.use(3000) }, p.own)
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
