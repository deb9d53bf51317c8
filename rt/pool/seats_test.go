package pool

import (
	"encoding/binary"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"
)

func skipUnseated(t *testing.T) {
	t.Helper()
	if !seated || checking {
		t.Skip("goroutines have no caches of their own here")
	}
}

// use gets and puts one buffer of 1000 bytes n times.
func use(p *Bytes, n int) {
	for range n {
		p.Put(p.Get(1000))
	}
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
	if l, _ := p.rise(); l != nil {
		t.Fatal("thirty uses, and the goroutine has a cache of its own")
	}
	use(&p, 3000)
	l, from := p.rise()
	if l == nil {
		t.Fatal("3001 uses, and the goroutine has no cache of its own")
	}
	p.giveBack(l, true, from)
	var wg sync.WaitGroup
	wg.Go(func() {
		use(&p, 3000)
		if other, _ := p.rise(); other == nil || other == l {
			t.Errorf("another goroutine has %p, the first %p", other, l)
		}
	})
	wg.Wait()
	for range 20 {
		runtime.GC()
		for range 5 {
			use(&p, 10)
			time.Sleep(time.Millisecond) // for the cleanup that calls turn
		}
		if again, from := p.rise(); again != l {
			t.Fatalf("the goroutine has %p after a collection, before it %p", again, l)
		} else {
			p.giveBack(again, true, from)
		}
	}
	if misses := p.depot().classes[classOf(1000)].misses.Load(); misses > 2 {
		t.Errorf("%d buffers were made, want one for each goroutine", misses)
	}
}

// Who does not use the pool any more has no cache after some collections.
func TestSeatIsLost(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	use(&p, 3000)
	s := &p.depot().seats
	if s.taken.Load() == 0 { // or more than one, if the stack grew
		t.Fatal("no seat is taken")
	}
	for range 1000 {
		runtime.GC()
		if s.taken.Load() == 0 && p.Stats().HeldBytes == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d seats are taken, and %d bytes held", s.taken.Load(), p.Stats().HeldBytes)
}

// No more goroutines have caches than there are seats; all get and put all the same.
func TestSeatsAreFew(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	var wg sync.WaitGroup
	stay := make(chan struct{})
	limit := p.depot().seats.limit.Load()
	for range 4 * limit {
		wg.Go(func() {
			use(&p, 3000)
			<-stay
		})
	}
	close(stay)
	wg.Wait()
	if got := p.depot().seats.taken.Load(); got == 0 || got > limit+1 {
		t.Errorf("%d seats are taken, want 1 to %d", got, limit+1)
	}
}

// A pool that nobody has any more is collected, though a goroutine has a cache of it.
func TestSeatedPoolIsCollected(t *testing.T) {
	skipUnseated(t)
	d := func() weak.Pointer[depot] {
		var p Bytes
		use(&p, 3000)
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

// TestSeatsAlone has goroutines come and go, with stacks that grow and shrink, and wants
// that none ever gets what another has.
func TestSeatsAlone(t *testing.T) {
	skipUnseated(t)
	var p Bytes
	p.depot().seats.looks = 2
	most := int32(0)
	until := time.Now().Add(time.Second)
	if testing.Short() {
		until = time.Now().Add(300 * time.Millisecond)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for time.Now().Before(until) {
			runtime.GC()
		}
	})
	for worker := range uint64(8) {
		wg.Go(func() {
			for life := uint64(0); time.Now().Before(until) && !t.Failed(); life++ {
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
	for time.Now().Before(until) {
		most = max(most, p.depot().seats.taken.Load())
		time.Sleep(time.Millisecond)
	}
	wg.Wait()
	if most == 0 {
		t.Error("no seat was taken: nothing was tested")
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

// TestNothingCalledAtSeat wants that Get and Put call nothing that may move the stack
// while they use the goroutine's cache, even if the compiler does not optimize: only
// these, which do not look for room on the stack, or are called before or after.
func TestNothingCalledAtSeat(t *testing.T) {
	skipUnseated(t)
	if testing.Short() {
		t.Skip("runs the compiler")
	}
	allowed := []string{"pool.classOf", "pool.place", "pool.(*seats).seat", "pool.(*Local).pop", "runtime.gcWriteBarrier", "runtime.panic",
		"pool.(*Bytes).seatedLocal", "sync/atomic.(*Pointer[", "pool.word", // before
		"sync.(*Pool).", "pool.(*Bytes).borrow", "pool.(*Local).push", // with another's cache
		"pool.(*Bytes).getSlow", "pool.(*Bytes).putSlow"} // after
	for _, flags := range []string{"-S", "-S -N -l"} {
		out, err := exec.Command("go", "build", "-gcflags="+flags, ".").CombinedOutput()
		if err != nil {
			t.Skipf("no compiler here: %v", err)
		}
		for _, name := range []string{"Get", "Put"} {
			text := regexp.MustCompile(`(?ms)^\S*pool\.\(\*Bytes\)\.` + name + ` STEXT nosplit.*?^\S`).Find(out)
			if text == nil {
				t.Fatalf("%s: no nosplit %s in the compiler's listing", flags, name)
			}
			for _, call := range regexp.MustCompile(`\sCALL\s+(\S+)`).FindAllSubmatch(text, -1) {
				ok := slices.ContainsFunc(allowed, func(s string) bool { return strings.Contains(string(call[1]), s) })
				if !ok {
					t.Errorf("%s: %s calls %s", flags, name, call[1])
				}
			}
		}
	}
}
