//go:build !heaptrimcheck && !race

package pool_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// oneP leaves the test one P and no collections, until its end: what a P keeps for
// itself cannot be had from another, and the collector drops it.
func oneP(t *testing.T) {
	t.Helper()
	procs, percent := runtime.GOMAXPROCS(1), debug.SetGCPercent(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(percent)
		runtime.GOMAXPROCS(procs)
	})
}

func TestAllocationBudget(t *testing.T) {
	// As AllocsPerRun does: a change of it has a sync.Pool lose what it holds.
	oneP(t)
	f := func(name string, budget float64, op func()) {
		t.Helper()
		for range 100 {
			op()
		}
		if got := testing.AllocsPerRun(1000, op); got > budget {
			t.Errorf("%s: %v allocations, budget %v", name, got, budget)
		}
	}
	var p pool.Bytes
	f("Get, Put", 0, func() { p.Put(p.Get(1000)) })
	f("GetZeroed, Put", 0, func() { p.Put(p.GetZeroed(1000)) })
	f("Get, Put of 2 MiB", 0, func() { p.Put(p.Get(2 << 20)) })
	f("Local", 0, func() { l := p.Local(); l.Put(l.Get(100)); l.Release() })
	l := p.Local()
	f("Local: Get, Put", 0, func() { l.Put(l.Get(100)) })
	var out [100][]byte
	f("100 out", 0, func() {
		for i := range out {
			out[i] = l.Get(i * 100)
		}
		for i := range out {
			p.Put(out[i])
		}
	})
	small := pool.Bytes{MaxSize: 1000}
	f("a larger one than MaxSize", 1, func() { small.Put(small.Get(2000)) })
	var objects pool.Of[[100]int]
	f("Of: Get, Put", 0, func() { objects.Put(objects.Get()) })
	values := pool.Values[[]int]{New: func() []int { return make([]int, 10) }}
	f("Values: Get, Put", 0, func() { values.Put(values.Get()) })
}

func TestStats(t *testing.T) {
	oneP(t)
	var p pool.Bytes
	l := p.Local()
	for range 10 {
		a, b := l.Get(1000), l.Get(1000)
		l.Put(a)
		l.Put(b)
	}
	l.Put(make([]byte, 1000, 1001)[:0])
	l.Release()
	p.Get(40 << 20)
	s := p.Stats()
	if s.Oversize != 1 || s.Foreign != 1 || len(s.Classes) != 1 {
		t.Fatalf("got %+v", s)
	}
	c := s.Classes[0]
	want := pool.ClassStats{Size: 1024, Misses: 2}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

// TestBurst wants a burst given back within three collections.
func TestBurst(t *testing.T) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	f := func(name string, get func(int) []byte, put func([]byte)) {
		t.Helper()
		runtime.GC()
		runtime.GC()
		before := heap()
		burst(get, put, 64, 1<<20)
		// What other tests left behind may be given back meanwhile.
		if got := heap() - before; got < 48<<20 {
			t.Errorf("%s: %d bytes kept before any collection, want 64 MiB", name, got)
		}
		for range 3 {
			runtime.GC()
		}
		if got := heap() - before; got > 5<<20 {
			t.Errorf("%s: %d bytes kept after three collections", name, got)
		}
	}
	var p, q pool.Bytes
	f("plain", p.Get, p.Put)
	l := q.Local()
	f("Local", l.Get, l.Put)
	runtime.KeepAlive(l)
}

// TestMixedBurst wants a burst of all sizes given back, too, in a few more.
func TestMixedBurst(t *testing.T) {
	var p pool.Bytes
	for i := range 20 {
		burst(p.Get, p.Put, min(1000, 16<<20>>i), 1<<i)
	}
	for range 100 {
		runtime.GC()
		time.Sleep(time.Millisecond)
		if p.Stats().HeldBytes == 0 {
			return
		}
	}
	t.Errorf("%d bytes are still held: %+v", p.Stats().HeldBytes, p.Stats())
}

// A Local that was released is there for the next one, on whatever P.
func TestReleasedLocal(t *testing.T) {
	oneP(t) // for the collections
	runtime.GOMAXPROCS(2)
	var p pool.Bytes
	for range 100 {
		done := make(chan struct{})
		go func() {
			defer close(done)
			l := p.Local()
			l.Put(l.Get(1000))
			l.Release()
		}()
		<-done
	}
	if s := p.Stats(); len(s.Classes) != 1 || s.Classes[0].Misses != 1 {
		t.Errorf("got %+v, want one buffer made", s)
	}
}
