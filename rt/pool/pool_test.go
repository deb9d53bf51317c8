package pool_test

import (
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/heaptrim/heaptrim/rt/pool"
)

func TestGetLengths(t *testing.T) {
	var p pool.Bytes
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 4096, 4097, 1 << 20, 32 << 20, 32<<20 + 1} {
		b := p.Get(n)
		if len(b) != n || b == nil {
			t.Errorf("Get(%d) has %d bytes", n, len(b))
		}
		if limit := max(64, n+n/4); n <= 32<<20 && cap(b) > limit {
			t.Errorf("Get(%d) has capacity %d, more than %d", n, cap(b), limit)
		}
		p.Put(b)
	}
}

func TestGetNegative(t *testing.T) {
	for name, get := range map[string]func(*pool.Bytes){
		"Bytes": func(p *pool.Bytes) { p.Get(-1) },
		"Local": func(p *pool.Bytes) { p.Local().Get(math.MinInt) },
		"Zero":  func(p *pool.Bytes) { p.GetZeroed(-5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a Get of a negative size did not panic", name)
				}
			}()
			get(new(pool.Bytes))
		}()
	}
}

func TestGetZeroed(t *testing.T) {
	var p pool.Bytes
	for range 3 {
		b := p.GetZeroed(1000)
		for i, c := range b[:cap(b)] {
			if c != 0 {
				t.Fatalf("byte %d is %d", i, c)
			}
		}
		for i := range b {
			b[i] = 1
		}
		p.Put(b)
	}
}

func TestPutAnything(t *testing.T) {
	p := pool.Bytes{Report: func(*pool.Misuse) {}} // foreign, most of them
	for _, b := range [][]byte{nil, {}, make([]byte, 1), make([]byte, 77), make([]byte, 33<<20), make([]byte, 64)} {
		p.Put(b)
		l := p.Local()
		l.Put(b)
		l.Release()
	}
	seen := make(map[*byte]bool)
	for range 100 {
		b := p.Get(70)
		if len(b) != 70 || seen[&b[0]] {
			t.Fatal("a buffer too short, or handed out twice")
		}
		seen[&b[0]] = true
	}
}

func TestMaxSize(t *testing.T) {
	p := pool.Bytes{MaxSize: 1000}
	p.Put(p.Get(1024))
	p.Put(p.Get(5000))
	if got := p.Stats().Oversize; got != 2 {
		t.Errorf("%d oversize requests, want 2", got)
	}
	if got := p.Stats().HeldBytes; got != 0 {
		t.Errorf("%d bytes held, want none", got)
	}
}

// burst gets count buffers of size bytes, writes to every page, and puts them all.
func burst(get func(int) []byte, put func([]byte), count, size int) {
	list := make([][]byte, count)
	for i := range list {
		list[i] = get(size)
		for j := 0; j < size; j += 4096 {
			list[i][j] = 1
		}
	}
	for i := range list {
		put(list[i])
		list[i] = nil
	}
}

func TestOfResetsAndKeeps(t *testing.T) {
	type object struct {
		list []int
		made bool
	}
	p := pool.Of[object]{
		New:   func() *object { return &object{made: true} },
		Reset: func(o *object) { o.list = o.list[:0] },
		Keep:  func(o *object) bool { return cap(o.list) < 100 },
	}
	o := p.Get()
	if !o.made {
		t.Error("New was not called")
	}
	o.list = append(o.list, 1)
	p.Put(o)
	if len(o.list) != 0 {
		t.Error("Reset was not called")
	}
	o = p.Get()
	o.list = make([]int, 100)
	p.Put(o)
	if len(o.list) == 0 {
		t.Error("Reset was called for what is not kept")
	}
	p.Put(nil)
	if got := p.Stats().Drops; got != 1 {
		t.Errorf("%d drops, want 1", got)
	}
}

func TestOfZero(t *testing.T) {
	var empty pool.Of[struct{}]
	a, b := empty.Get(), empty.Get()
	empty.Put(a)
	empty.Put(b)
	var large pool.Of[[1 << 16]int]
	x := large.Get()
	x[5] = 7
	large.Put(x)
	if large.Get() == nil {
		t.Error("Get returned nil")
	}
}

func TestValues(t *testing.T) {
	p := pool.Values[[]int]{New: func() []int { return make([]int, 0, 10) }}
	var all [][]int
	seen := make(map[*int]bool)
	for range 100 {
		v := p.Get()
		if len(v) != 0 || cap(v) != 10 || seen[&v[:1][0]] {
			t.Fatal("not a value of its own")
		}
		seen[&v[:1][0]] = true
		all = append(all, v)
	}
	for _, v := range all {
		p.Put(v)
	}
	for range 100 {
		if v := p.Get(); cap(v) != 10 {
			t.Fatalf("capacity %d, want 10", cap(v))
		}
	}
}

// TestConcurrent has no buffer in two hands at once.
func TestConcurrent(t *testing.T) {
	var p pool.Bytes
	rounds := 2000
	if testing.Short() {
		rounds = 400
	}
	ch := make(chan []byte, 64) // some are put by another goroutine
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			get, put := p.Get, p.Put
			if g%2 == 0 {
				l := p.Local()
				defer l.Release()
				get, put = l.Get, l.Put
			}
			for i := range rounds {
				n := 1 + (i*7919+g*104729)%3000
				b := get(n)
				for j := range b {
					b[j] = byte(g)
				}
				if i%64 == 0 {
					runtime.Gosched()
				}
				for j := range b {
					if b[j] != byte(g) {
						t.Errorf("byte %d of %d is %d, written by another goroutine than %d", j, n, b[j], g)
						return
					}
				}
				select {
				case ch <- b:
				case other := <-ch:
					put(other)
					put(b)
				}
			}
		})
	}
	wg.Wait()
}
