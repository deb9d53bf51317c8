//go:build (amd64 || arm64) && !heaptrimcheck && !race && !heaptrimnoseats

package pool

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"
)

func skipUnseated(t *testing.T) {
	t.Helper()
	if !seated {
		t.Skip("goroutines have no caches of their own here")
	}
}

// occupied returns how many seats are taken, and how many may be.
func (p *Bytes) occupied() (taken, limit int) {
	s := &p.depot().seats
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, s.limit
}

// A goroutine that keeps using a pool gets a cache, which nobody else uses, and keeps it
// over collections for as long as it uses it.
func TestSeat(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	var out [30][]byte
	for i := range out {
		out[i] = p.Get(i * 1000)
	}
	for _, b := range out {
		p.Put(b)
	}
	if p.own() != nil {
		t.Fatal("thirty uses, and the goroutine has a cache of its own")
	}
	much := func() { use(&p, 3000) }
	l := sit(t, much, p.own)
	if other := sitBeside(much, p.own); other == nil || other == l {
		t.Errorf("another goroutine has %p, the first %p", other, l)
	}
	misses := &p.depot().classes[classOf(1000)].counts.misses
	before := misses.Load()
	for range 20 {
		collect(t, &p.depot().seats.cycle)
		use(&p, 10)
		if again := p.own(); again != l {
			t.Fatalf("the goroutine has %p after a collection, before it %p", again, l)
		}
	}
	if got := misses.Load(); got != before {
		t.Errorf("%d buffers were made by a goroutine that has a cache, want none", got-before)
	}
}

// Who does not use the pool any more has no cache after some collections.
func TestSeatIsLost(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	sit(t, func() { use(&p, 3000) }, p.own)
	if n, _ := p.occupied(); n != 1 {
		t.Fatalf("%d seats are taken, want 1", n)
	}
	for range 1000 {
		runtime.GC()
		if n, _ := p.occupied(); n == 0 && p.Stats().HeldBytes == 0 {
			if p.seats.Load() != nil {
				t.Error("nobody has a cache, and all look for theirs")
			}
			return
		}
		time.Sleep(time.Millisecond)
	}
	n, _ := p.occupied()
	t.Errorf("%d seats are taken, and %d bytes held", n, p.Stats().HeldBytes)
}

// No more goroutines have caches than there are seats; all get and put all the same.
func TestSeatsAreFew(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	var wg sync.WaitGroup
	stay := make(chan struct{})
	_, limit := p.occupied()
	for range 4 * limit {
		wg.Go(func() {
			use(&p, 3000)
			<-stay
		})
	}
	close(stay)
	wg.Wait()
	if got, _ := p.occupied(); got == 0 || got > limit {
		t.Errorf("%d seats are taken, want 1 to %d", got, limit)
	}
}

// A pool that nobody has any more is collected, though a goroutine has a cache of it.
func TestSeatedPoolIsCollected(t *testing.T) {
	skipUnseated(t)
	d := func() weak.Pointer[depot] {
		var p Bytes
		sit(t, func() { use(&p, 3000) }, p.own)
		return weak.Make(p.depot())
	}()
	for range 1000 {
		runtime.GC()
		if d.Value() == nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the pool is still there")
}

// A goroutine is the same one wherever its stack and it itself are, and no other.
func TestGoroutine(t *testing.T) {
	skipUnseated(t)
	const n = 100
	var mu sync.Mutex
	seen := map[uintptr]bool{}
	var wg, all sync.WaitGroup
	all.Add(n)
	for range n {
		wg.Go(func() {
			g := goroutine()
			mu.Lock()
			if g == 0 || seen[g] {
				t.Errorf("two goroutines are %x", g)
			}
			seen[g] = true
			mu.Unlock()
			all.Done()
			all.Wait() // none may end before the last is there
			runtime.LockOSThread()
			atDepth(100, func() {
				runtime.Gosched()
				if got := goroutine(); got != g {
					t.Errorf("a goroutine is %x, after its stack moved %x", g, got)
				}
			})
		})
	}
	wg.Wait()
}

// A goroutine keeps its cache, and what is in it, when its stack moves.
func TestSeatOfMovedStack(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	l := sit(t, func() { use(&p, 3000) }, p.own)
	misses := &p.depot().classes[classOf(1000)].counts.misses
	before := misses.Load()
	for range 10 {
		atDepth(200, func() { use(&p, 1) })
		collect(t, &p.depot().seats.cycle) // which shrinks the stack
		if got := p.own(); got != l {
			t.Fatalf("the goroutine has %p after its stack moved, before it %p", got, l)
		}
	}
	if got := misses.Load(); got != before {
		t.Errorf("%d buffers were made, want none", got-before)
	}
}

// atDepth calls f with that many KiB more on the stack.
//
//go:noinline
func atDepth(depth int, f func()) byte {
	var room [1024]byte
	room[depth] = 1
	if depth > 0 {
		return atDepth(depth-1, f) + room[depth]
	}
	f()
	return room[0]
}

// TestSeatsAlone has goroutines come and go, with stacks that grow and shrink, and wants
// that none ever gets what another has.
func TestSeatsAlone(t *testing.T) {
	skipUnseated(t)
	procs := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	for _, n := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(n)
		t.Run(fmt.Sprintf("%dPs", n), seatsAlone)
	}
}

func seatsAlone(t *testing.T) {
	var p Bytes
	p.depot().seats.looks = 2
	most := 0
	until := time.Now().Add(time.Second)
	if testing.Short() {
		until = time.Now().Add(200 * time.Millisecond)
	}
	patience := until.Add(time.Minute) // for a machine that stood still meanwhile
	var ended atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !ended.Load() {
			runtime.GC()
		}
	})
	for worker := range uint64(24) {
		wg.Go(func() {
			for life := uint64(0); !ended.Load() && !t.Failed(); life++ {
				done := make(chan struct{})
				go func() {
					defer close(done)
					r := rand.New(rand.NewPCG(worker, life))
					for i := range uint64(1 + r.IntN(3000)) {
						deep(t, &p, r, worker<<56|life<<24|i, r.IntN(12))
					}
				}()
				<-done
			}
		})
	}
	for time.Now().Before(until) || most < 2 && !t.Failed() && time.Now().Before(patience) {
		n, _ := p.occupied()
		most = max(most, n)
		time.Sleep(time.Millisecond)
	}
	ended.Store(true)
	wg.Wait()
	if most < 2 {
		t.Errorf("%d seats were taken: nothing was tested", most)
	}
}

// deep gets and puts some buffers, marked with id, far down on the stack.
//
//go:noinline
func deep(t *testing.T, p *Bytes, r *rand.Rand, id uint64, depth int) byte {
	var room [700]byte
	room[r.IntN(len(room))] = 1
	if depth > 0 {
		return deep(t, p, r, id, depth-1) + room[depth]
	}
	var out [4][]byte
	for i := range out {
		out[i] = p.Get(64 << r.IntN(5))
		binary.LittleEndian.PutUint64(out[i], id+uint64(i)<<48)
	}
	if r.IntN(100) == 0 {
		runtime.Gosched()
	}
	for i, b := range out {
		if got, want := binary.LittleEndian.Uint64(b), id+uint64(i)<<48; got != want {
			t.Errorf("got %x from a buffer in which %x was written", got, want)
		}
		p.Put(b)
	}
	return room[0]
}

// Goroutines that share a seat never find each other's caches there, however often it
// is emptied between a look at the cache and one at its owner.
func TestSharedSeat(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	s := &p.depot().seats
	const first = 1 << goroutineShift
	second := uintptr(2 * first)
	for s.list.at(second) != s.list.at(first) {
		second += first
	}
	lasting := time.Second
	if testing.Short() {
		lasting /= 5
	}
	until := time.Now().Add(lasting)
	on := func() bool { return time.Now().Before(until) && !t.Failed() }
	var wg sync.WaitGroup
	var found [2]int
	for i, g := range []uintptr{first, second} {
		wg.Go(func() {
			for l := p.Local(); on(); {
				s.settle(l, g)
				for range 1000 {
					if c, ok := s.list.of(g); ok && c != l {
						t.Error("a goroutine found the cache of another, or none where it should have one")
						return
					} else if ok {
						found[i]++
					}
				}
			}
		})
	}
	for on() {
		s.mu.Lock()
		if seat := s.list.at(first); seat.cache.Load() != nil { // as turn does
			seat.leave()
			s.taken--
		}
		s.mu.Unlock()
	}
	wg.Wait()
	if found[0] == 0 || found[1] == 0 {
		t.Errorf("the goroutines found their caches %d times: nothing was tested", found)
	}
}
