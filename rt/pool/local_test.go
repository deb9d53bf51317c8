//go:build !heaptrimcheck && !race

package pool

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"
)

// collectUntil collects until ok, a thousand times at most.
func collectUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		runtime.GC()
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("1000 collections, and not yet: %s", what)
}

// A Local that nobody uses gives its buffers back, without a Release; what lies in the
// reserve goes, too.
func TestIdleLocal(t *testing.T) {
	var p Bytes
	l := p.Local()
	var buffers []weak.Pointer[byte]
	var out [][]byte
	for i := range 400 {
		b := l.Get(64 << (i % 15))
		buffers = append(buffers, weak.Make(unsafe.SliceData(b)))
		out = append(out, b)
	}
	for _, b := range out {
		l.Put(b)
	}
	out = nil
	collectUntil(t, "no buffer is left", func() bool {
		for _, w := range buffers {
			if w.Value() != nil {
				return false
			}
		}
		return true
	})
	l.Put(l.Get(100)) // it goes on
	l.Release()
}

// A Local in use keeps its buffers over collections, and no more of them than are used.
func TestLocalOverCollections(t *testing.T) {
	var p Bytes
	l := p.Local()
	d := p.depot()
	use := func(n int) {
		var out [][]byte
		for range n {
			out = append(out, l.Get(1000))
		}
		for _, b := range out {
			l.Put(b)
		}
	}
	use(20)
	c := l.cell.active.Load()
	for range 5 {
		d.turn() // as after a collection
		if l.cell.active.Load() != nil {
			t.Fatal("a cache is still in reach of an idle owner")
		}
		use(3)
		if got := l.cell.active.Load(); got != c {
			t.Fatal("a Local in use lost its cache")
		}
	}
	if got := len(c[localClass(1000)].items()); got != 3 {
		t.Errorf("%d buffers in the cache, want the 3 that are used", got)
	}
	if got := d.shelves[classOf(1000)].misses; got != 20 {
		t.Errorf("%d buffers were made, want 20", got)
	}
}

// What only is put through a Local, and got through another, does not pile up in it.
func TestPutOnly(t *testing.T) {
	var p Bytes
	from, to := p.Local(), p.Local()
	for _, size := range []int{128, 16 << 10, 64 << 10, 256 << 10} {
		k := classOf(size)
		d := p.depot()
		for range 10 * stackLen {
			to.Put(from.Get(size))
		}
		most := uint64(stackDepth(size) * 3 / 2)
		if got := d.shelves[k].misses; got > most {
			t.Errorf("%d buffers of %d bytes were made, want at most %d", got, size, most)
		}
		for range 2 {
			d.turn()
			to.Put(from.Get(64 << 10))
		}
		if got := len(to.cell.active.Load()[localClass(size)].items()); got > 1 {
			t.Errorf("%d buffers of %d bytes lie where nobody asks for them", got, size)
		}
	}
}

// A Local may be released more than once, and must not be used after.
func TestReleaseTwice(t *testing.T) {
	var p Bytes
	l := p.Local()
	l.Put(l.Get(100))
	l.Release()
	l.Release()
	a, b := p.Local(), p.Local()
	if a.cell == b.cell {
		t.Error("two owners have one cache")
	}
	l.Release()
	if c := p.Local(); c.cell == a.cell || c.cell == b.cell {
		t.Error("two owners have one cache")
	}
	for name, use := range map[string]func(){
		"Get":       func() { l.Get(100) },
		"GetZeroed": func() { l.GetZeroed(100) },
		"Put":       func() { l.Put(make([]byte, 128)) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "after Release") {
					t.Errorf("%s after Release: %q", name, s)
				}
			}()
			use()
		}()
	}
}

// A Local that its owner forgot does not stay on the pool's list.
func TestForgottenLocals(t *testing.T) {
	var p Bytes
	for range 100 {
		l := p.Local()
		l.Put(l.Get(100))
	}
	collectUntil(t, "the list of Locals is empty", func() bool {
		p.depot().mu.Lock()
		defer p.depot().mu.Unlock()
		return len(p.depot().cells) == 0
	})
}

// A class that has to make large buffers in several cycles is served by the reserve, until
// it is used so much that the lock costs more, or not at all.
func TestReserveFirst(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // or a cycle could end at any time
	for _, size := range []int{minFirst, 1 << 20} {
		var p Bytes
		d, k := p.depot(), classOf(size)
		first := func() bool { return p.classes[k].size.Load() == 0 }
		regretted := func() {
			for range regret + 2 { // some may find what lies free
				p.Get(size) // and never put
				d.turn()
			}
			if !first() {
				t.Errorf("%d bytes: misses in %d cycles, and the sync.Pool comes first", size, regret)
			}
		}
		regretted()
		b := p.Get(size)
		p.Put(b)
		if got := d.shelves[k].n; got != 1 {
			t.Errorf("%d bytes: %d buffers in the reserve, want 1", size, got)
		}
		for range size/getBytes + 1 {
			p.Put(p.Get(size))
		}
		if first() {
			t.Errorf("%d bytes: the reserve comes first after %d Gets in a cycle", size, size/getBytes)
		}
		d.turn()
		regretted()
		collectUntil(t, "the reserve of an idle class comes second", func() bool { return !first() })
	}
	var p Bytes
	for range 10 {
		p.Get(1000)
		p.depot().turn()
	}
	if p.classes[classOf(1000)].size.Load() == 0 {
		t.Error("1000 bytes: the reserve comes first")
	}
}

// The reserve never holds more than MaxBytes, nor more than its share of a class.
func TestReserveBound(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := Bytes{MaxBytes: 1 << 20}
	d := p.depot()
	var sum int64
	for k := range uint(numClasses) {
		if classSize(k) > 1<<20 {
			break
		}
		for range 50 {
			d.give(k, []unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(make([]byte, classSize(k))))})
		}
		held := int64(d.shelves[k].n * classSize(k))
		sum += held
		if held > p.MaxBytes/classShare {
			t.Errorf("%d bytes in buffers of %d, want at most %d", held, classSize(k), p.MaxBytes/classShare)
		}
	}
	if got := d.bytes.Load(); got != sum || got > p.MaxBytes {
		t.Errorf("%d bytes counted, %d there, want at most %d", got, sum, p.MaxBytes)
	}
}
