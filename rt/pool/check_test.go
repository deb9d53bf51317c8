//go:build heaptrimcheck || race

package pool_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// reports collects what a pool reports.
type reports struct {
	mu   sync.Mutex
	list []*pool.Misuse
}

func (r *reports) add(m *pool.Misuse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, m)
}

func (r *reports) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = nil
}

func (r *reports) take() []*pool.Misuse {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list
}

// lineAbove returns the line above that of its caller.
func lineAbove() string {
	_, file, n, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), n-1)
}

// top is the innermost line of a stack.
func top(s pool.Stack) string {
	frames := s.Frames()
	if len(frames) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(frames[0].File), frames[0].Line)
}

// program is a use of a pool with one mistake in it. It returns the lines that the
// report has to show as Here and There.
type program func(r *rand.Rand, p *pool.Bytes) (here, there string)

func noise(r *rand.Rand, get func(int) []byte, put func([]byte)) {
	var out [][]byte
	for range r.IntN(20) {
		out = append(out, get(r.IntN(3000)))
		if len(out) > 4 {
			put(out[0])
			out = out[1:]
		}
	}
	for _, b := range out {
		put(b)
	}
}

var programs = map[pool.Kind]program{
	pool.DoublePut: func(r *rand.Rand, p *pool.Bytes) (string, string) {
		b := p.Get(1 + r.IntN(5000))
		p.Put(b)
		there := lineAbove()
		if r.IntN(2) == 0 {
			noise(r, func(n int) []byte { return p.Get(n + 10000) }, p.Put)
		}
		p.Put(b[:0])
		here := lineAbove()
		return here, there
	},
	pool.UseAfterPut: func(r *rand.Rand, p *pool.Bytes) (string, string) {
		n := 1 + r.IntN(5000)
		b := p.Get(n)
		p.Put(b)
		there := lineAbove()
		b[r.IntN(n)]++
		p.Get(n)
		here := lineAbove()
		return here, there
	},
	pool.Foreign: func(r *rand.Rand, p *pool.Bytes) (string, string) {
		switch r.IntN(3) {
		case 0:
			p.Put(make([]byte, 1024))
			here := lineAbove()
			return here, ""
		case 1:
			b := p.Get(200 + r.IntN(1000))
			there := lineAbove()
			p.Put(b[1+r.IntN(100):])
			here := lineAbove()
			runtime.KeepAlive(b)
			return here, there
		default:
			b := p.Get(100)
			there := lineAbove()
			p.Put(b[:10:10])
			here := lineAbove()
			runtime.KeepAlive(b)
			return here, there
		}
	},
	pool.Leak: func(r *rand.Rand, p *pool.Bytes) (string, string) {
		b := p.Get(1 + r.IntN(100000))
		there := lineAbove()
		b[0] = 1
		return "", there
	},
	pool.UseAfterRelease: func(r *rand.Rand, p *pool.Bytes) (string, string) {
		l := p.Local()
		noise(r, l.Get, l.Put)
		l.Release()
		there := lineAbove()
		l.Get(1 + r.IntN(5000))
		here := lineAbove()
		return here, there
	},
}

// TestMisuse runs 100 programs with a mistake each, made from seeds.
func TestMisuse(t *testing.T) {
	kinds := []pool.Kind{pool.DoublePut, pool.UseAfterPut, pool.Foreign, pool.Leak, pool.UseAfterRelease}
	for seed := range uint64(100) {
		kind := kinds[seed%5]
		t.Run(fmt.Sprintf("%d %s", seed, kind), func(t *testing.T) {
			var found reports
			p := &pool.Bytes{Report: func(m *pool.Misuse) {
				if m.Kind == kind { // a mistake may well leak, too
					found.add(m)
				}
			}}
			r := rand.New(rand.NewPCG(seed, 1))
			noise(r, p.Get, p.Put)
			here, there := programs[kind](r, p)
			noise(r, p.Get, p.Put)
			for range 200 {
				if kind != pool.Leak || len(found.take()) > 0 {
					break
				}
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			list := found.take()
			if len(list) != 1 {
				t.Fatalf("%d reports, want 1: %v", len(list), list)
			}
			if got := top(list[0].Here); got != here {
				t.Errorf("Here is %s, want %s", got, here)
			}
			if got := top(list[0].There); got != there {
				t.Errorf("There is %s, want %s", got, there)
			}
			runtime.KeepAlive(p)
		})
	}
}

// No report where there is no mistake.
func TestNoMisuse(t *testing.T) {
	p := pool.Bytes{MaxSize: 4000, Report: func(m *pool.Misuse) { t.Error(m) }}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		noise(r, p.Get, p.Put)
		l := p.Local()
		noise(r, l.Get, l.Put)
		l.Release()
		l.Release() // does nothing
		runtime.GC()
	}
	burst(p.Get, p.Put, 1000, 1000)
	p.Put(p.Get(0))
	p.Put(p.Get(1 << 20))
	if n := p.Check(); n != 0 {
		t.Errorf("Check found %d", n)
	}
}

func TestCheckFindsWrites(t *testing.T) {
	var found reports
	p := pool.Bytes{Report: found.add}
	b := p.Get(100)
	p.Put(b)
	b[7] = 1
	if n := p.Check(); n != 1 || len(found.take()) != 1 {
		t.Errorf("Check found %d and reported %d, want 1", n, len(found.take()))
	}
}

func TestMisuseOfObjects(t *testing.T) {
	type object struct {
		list []int
		n    int
	}
	var found reports
	p := &pool.Of[object]{Report: found.add, Reset: func(o *object) { o.n = 0 }}
	f := func(kind pool.Kind, mistake func() (here, there string)) {
		t.Helper()
		found.clear()
		here, there := mistake()
		for i := 0; kind == pool.Leak && len(found.take()) == 0 && i < 200; i++ {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		list := found.take()
		if len(list) != 1 || list[0].Kind != kind {
			t.Fatalf("got %v, want one of %q", list, kind)
		}
		if got := top(list[0].Here) + " " + top(list[0].There); got != here+" "+there {
			t.Errorf("%s: Here and There are %s, want %s %s", kind, got, here, there)
		}
	}
	f(pool.DoublePut, func() (string, string) {
		o := p.Get()
		p.Put(o)
		there := lineAbove()
		p.Put(o)
		here := lineAbove()
		return here, there
	})
	f(pool.UseAfterPut, func() (string, string) {
		o := p.Get()
		p.Put(o)
		there := lineAbove()
		o.n = 5
		p.Get()
		here := lineAbove()
		return here, there
	})
	f(pool.Foreign, func() (string, string) {
		p.Put(new(object))
		here := lineAbove()
		return here, ""
	})
	found.clear()
	runtime.GC()
	time.Sleep(10 * time.Millisecond) // the object of the Get above, which leaked
	f(pool.Leak, func() (string, string) {
		o := p.Get()
		there := lineAbove()
		o.n++
		return "", there
	})
	runtime.KeepAlive(p)
}

func TestPanics(t *testing.T) {
	defer func() {
		m, ok := recover().(*pool.Misuse)
		if !ok || m.Kind != pool.DoublePut {
			t.Fatalf("got %v, want a panic with a double put", m)
		}
		if got := m.Error(); strings.Count(got, "check_test.go") < 3 || !strings.Contains(got, "first put at") {
			t.Errorf("the report lacks a stack: %s", got)
		}
	}()
	var p pool.Bytes
	b := p.Get(10)
	p.Put(b)
	p.Put(b)
}

func TestConcurrentUse(t *testing.T) {
	var found reports
	p := pool.Bytes{Report: found.add}
	l := p.Local()
	until := time.Now().Add(5 * time.Minute) // it takes two at the same moment
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for len(found.take()) == 0 && time.Now().Before(until) {
				l.Put(l.Get(100000))
			}
		})
	}
	wg.Wait()
	if list := found.take(); len(list) == 0 || list[0].Kind != pool.ConcurrentUse {
		t.Errorf("got %v", list)
	}
}
