package pool

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"
)

// use gets and puts one value n times.
func (p *Values[T]) use(n int) {
	for range n {
		p.Put(p.Get())
	}
}

// What was put is got again, whole, whatever its size.
func TestValuesWhole(t *testing.T) {
	type mixed struct {
		a int64
		b [3]int64
		c string
		d *int
	}
	x := 5
	wholeValues(t, func(i int) int64 { return int64(i) })
	wholeValues(t, func(int) struct{} { return struct{}{} })
	wholeValues(t, func(i int) byte { return byte(i) })
	wholeValues(t, func(i int) string { return string(rune(i)) })
	wholeValues(t, func(int) *int { return &x })
	wholeValues(t, func(i int) mixed { return mixed{int64(i), [3]int64{1, 2, int64(i)}, string(rune(i)), &x} })
	wholeValues(t, func(i int) [300]int64 { return [300]int64{7, 299: int64(i)} })
}

// wholeValues has some values out, and puts and gets them in turns.
func wholeValues[T comparable](t *testing.T, of func(int) T) {
	t.Helper()
	p := Values[T]{New: func() T { return of(0) }}
	p.use(3000)
	for range 3 {
		const n = 35
		there := make(map[T]int)
		for i := range n {
			p.Put(of(i + 1))
			there[of(i+1)]++
		}
		for range n {
			got := p.Get()
			there[got]--
			if there[got] < 0 && got != of(0) {
				t.Errorf("got %v once more than it was put", got)
			}
		}
		runtime.GC()
	}
}

// New may use the pool that it is called for.
func TestValuesNewUsesPool(t *testing.T) {
	var p Values[int]
	made := 0
	p.New = func() int {
		made++
		if made%3 == 0 {
			p.Put(-made)
		}
		return made
	}
	seen := map[int]bool{}
	p.use(3000)
	for range 100 {
		v := p.Get()
		if seen[v] {
			t.Fatalf("got %d twice", v)
		}
		seen[v] = true
	}
}

// What nobody uses is dropped, also when the pool is used on with fewer values.
func TestValuesAreDropped(t *testing.T) {
	for _, uses := range []int{1, 3000} {
		var p Values[*[64]int]
		p.use(uses)
		var old []weak.Pointer[[64]int]
		for range 12 {
			v := new([64]int)
			old = append(old, weak.Make(v))
			p.Put(v)
		}
		for i := range 5 {
			runtime.GC()
			if i < 4 {
				p.use(10)
			}
		}
		left := 0
		for _, w := range old {
			if w.Value() != nil {
				left++
			}
		}
		if left > 1 {
			t.Errorf("%d uses before: of 12 values %d are there after 5 collections, want the one that is used", uses, left)
		}
	}
}

// TestValuesAlone has goroutines come and go, and wants that no value is ever had by two.
func TestValuesAlone(t *testing.T) {
	procs := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(procs) })
	for _, n := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(n)
		valuesAlone(t)
	}
}

func valuesAlone(t *testing.T) {
	p := Values[*atomic.Uint64]{New: func() *atomic.Uint64 { return new(atomic.Uint64) }}
	until := time.Now().Add(700 * time.Millisecond)
	if testing.Short() {
		until = time.Now().Add(150 * time.Millisecond)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for time.Now().Before(until) {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	})
	moved := make(chan *atomic.Uint64, 32)
	for worker := range uint64(24) {
		wg.Go(func() {
			// One life in any case, for a machine that has no time for this test.
			for life := uint64(1); (life == 1 || time.Now().Before(until)) && !t.Failed(); life++ {
				done := make(chan struct{})
				go func() {
					defer close(done)
					r := rand.New(rand.NewPCG(worker, life))
					liveOnValues(t, &p, moved, r, worker<<32|life)
				}()
				<-done
			}
		})
	}
	wg.Wait()
}

// liveOnValues is what a goroutine does that marks with id all values that it has.
func liveOnValues(t *testing.T, p *Values[*atomic.Uint64], moved chan *atomic.Uint64, r *rand.Rand, id uint64) {
	var out []*atomic.Uint64
	put := func(v *atomic.Uint64) {
		if !v.CompareAndSwap(id, 0) {
			t.Errorf("a value of %x belongs to %x", id, v.Load())
		}
		p.Put(v)
	}
	for range 1 + r.IntN(3000) {
		switch k := r.IntN(100); {
		case k < 49 && len(out) < 40:
			v := p.Get()
			if !v.CompareAndSwap(0, id) {
				t.Errorf("got a value that belongs to %x", v.Load())
			}
			out = append(out, v)
		case k < 98 && len(out) > 0:
			put(out[len(out)-1])
			out = out[:len(out)-1]
		case k == 98 && len(out) > 0: // another one puts it
			v := out[len(out)-1]
			v.Store(0)
			select {
			case moved <- v:
				out = out[:len(out)-1]
			default:
				v.Store(id)
			}
		case k == 99:
			select {
			case v := <-moved:
				p.Put(v)
			default:
				runtime.Gosched()
			}
		}
	}
	for _, v := range out {
		put(v)
	}
}
