//go:build !heaptrimcheck && !race

package pool

import (
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// own returns the cache that belongs to the running goroutine, or nil.
func (p *Bytes) own() *Local {
	if s := p.seats.Load(); s != nil {
		if l, ok := s.list.of(goroutine()); ok {
			return l
		}
	}
	return nil
}

// use gets and puts one buffer of 1000 bytes n times.
func use(p *Bytes, n int) {
	for range n {
		p.Put(p.Get(1000))
	}
}

// sit uses a pool until the goroutine has a cache of its own, and returns that. As long as
// the goroutine stays on its P, 3000 uses are enough.
func sit[C any](t *testing.T, use func(), own func() *C) *C {
	t.Helper()
	for range 100 {
		use()
		if c := own(); c != nil {
			return c
		}
	}
	t.Fatal("300000 uses, and the goroutine has no cache of its own")
	return nil
}

// sitBeside returns the cache that another goroutine gets. One that shares its seat with
// the running one gets none, so it is not the first in any case.
func sitBeside[C any](use func(), own func() *C) *C {
	var wg sync.WaitGroup
	defer wg.Wait()
	stay := make(chan struct{})
	defer close(stay)
	for range 10 {
		got := make(chan *C)
		wg.Go(func() {
			var c *C
			for i := 0; i < 100 && c == nil; i++ {
				use()
				c = own()
			}
			got <- c
			<-stay // or the next one would be the same
		})
		if c := <-got; c != nil {
			return c
		}
	}
	return nil
}

// A cache that two goroutines used at once says so, when it finds out.
func TestCorruptLocal(t *testing.T) {
	corrupted := func(name string, get func(int) []byte, put func([]byte), cache func() *Local) {
		t.Helper()
		a, b := get(1000), get(1000)
		put(a)
		put(b)
		st := &cache().stacks[classOf(1000)]
		st.s[st.n()] = nil // as by another goroutine that took it
		defer func() {
			if got := recover(); got != corrupt {
				t.Errorf("%s: %v, want %q", name, got, corrupt)
			}
		}()
		get(1000)
	}
	var p, q Bytes
	l := p.Local()
	corrupted("Local", l.Get, l.Put, func() *Local { return l })
	if seated {
		sit(t, func() { use(&q, 3000) }, q.own)
		corrupted("seat", q.Get, q.Put, q.own)
	}
}

// A second Put is refused also when there was a collection between the two.
func TestDoublePutOverCollection(t *testing.T) {
	var p Bytes
	l := p.Local()
	b := l.Get(100)
	cycle := &p.depot().seats.cycle
	atomic.AddUint32(cycle, 1)
	l.turn() // from here on, the class sees no Get
	l.Put(b)
	atomic.AddUint32(cycle, 1)
	l.Put(b)
	if x, y := l.Get(100), l.Get(100); unsafe.SliceData(x) == unsafe.SliceData(y) {
		t.Error("a buffer that was put twice in a row was handed out twice")
	}
	if got := p.depot().classes[classOf(100)].counts.twice.Load(); got != 1 {
		t.Errorf("%d second Puts refused, want 1", got)
	}
}
