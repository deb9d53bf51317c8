//go:build !heaptrimcheck && !race

package pool

import (
	"math/rand/v2"
	"runtime/debug"
	"sync/atomic"
	"testing"
)

// TestRoom fills a cache in several orders, and wants all stacks within their depths,
// and these within the documented part of MaxBytes and the right of each class.
func TestRoom(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := &Bytes{MaxBytes: 1 << (16 + r.IntN(8))}
		l := p.Local()
		for range 30 {
			size := classSize(r.UintN(numClasses - 20))
			var out [][]byte
			for range r.IntN(100) {
				out = append(out, l.Get(size))
			}
			for _, b := range out {
				l.Put(b)
			}
			testRoom(t, p, l)
			if r.IntN(10) == 0 {
				atomic.AddUint32(&p.depot().seats.cycle, 1) // as after a collection
			}
		}
	}
}

func testRoom(t *testing.T, p *Bytes, l *Local) {
	t.Helper()
	total := int64(0)
	for k := range l.stacks {
		st := &l.stacks[k]
		if st.n() > st.depth || st.depth > l.depot.classes[k].deepest {
			t.Fatalf("class %d: %d buffers, depth %d of at most %d", k, st.n(), st.depth, l.depot.classes[k].deepest)
		}
		for i := st.n() + 1; i <= stackLen; i++ {
			if st.s[i] != nil {
				t.Fatalf("class %d: a buffer above the top", k)
			}
		}
		total += int64(st.depth) * int64(st.size)
	}
	if limit := p.MaxBytes / 6; l.room < 0 || total+l.room != limit {
		t.Fatalf("stacks of %d bytes and room for %d do not make %d", total, l.room, limit)
	}
}

// A class that overflows gets the whole of its depth when no other needs the room.
func TestDeepening(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // after a collection, the class would be one that is only put
	var p Bytes
	l := p.Local()
	var out [][]byte
	for range 20 {
		out = append(out, l.Get(256<<10))
	}
	for _, b := range out {
		l.Put(b)
	}
	if got := l.stacks[classOf(256<<10)].n(); got < 14 || got > 16 {
		t.Errorf("%d buffers of 256 KiB in the cache, want 14 to 16", got)
	}
	if got := l.stacks[classOf(256<<10)].depth; got != 16 {
		t.Errorf("depth %d, want 16, which make 4 MiB", got)
	}
}

// What only is put through a cache, and got through others, does not pile up in it.
func TestPutOnly(t *testing.T) {
	var p Bytes
	from, to := p.Local(), p.Local()
	for _, size := range []int{100, 16 << 10, 64 << 10, 256 << 10} {
		k := classOf(size)
		batch := uint32(p.depot().classes[k].batch)
		for range 5 * stackLen {
			to.Put(from.Get(size))
			if got := to.stacks[k].n(); got > batch {
				t.Fatalf("%d buffers of %d bytes, want at most a batch, %d", got, size, batch)
			}
		}
		if got, want := p.depot().classes[k].counts.misses.Load(), uint64(2*batch+1); got > want {
			t.Errorf("%d buffers of %d bytes were made, want at most %d", got, size, want)
		}
	}
}

// What comes from the depot is fetched some buffers at a time, and every buffer and
// every Get counts once.
func TestFetchedAhead(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection could drop what lies in the depot
	var p Bytes
	from, to := p.Local(), p.Local()
	const size = 100
	st, batch := &to.stacks[classOf(size)], p.depot().classes[classOf(size)].batch
	var out [][]byte
	for range 2 * stackLen {
		out = append(out, from.Get(size))
	}
	for _, b := range out {
		from.Put(b)
	}
	seen := make(map[*byte]bool)
	for i := range batch {
		b := to.Get(size)
		if seen[&b[0]] {
			t.Fatal("a buffer was handed out twice")
		}
		seen[&b[0]] = true
		if got, want := int(st.n()), batch-1-i; got != want {
			t.Fatalf("%d buffers left after %d Gets, want %d", got, i+1, want)
		}
		if got, want := int(st.far), max(0, batch-(i/ahead+1)*ahead); got != want {
			t.Fatalf("%d buffers not fetched after %d Gets, want %d", got, i+1, want)
		}
	}
	if got := st.gets(); got != uint64(batch) {
		t.Errorf("%d Gets counted, want %d", got, batch)
	}
	if got := p.depot().classes[classOf(size)].counts.misses.Load(); got != 2*stackLen {
		t.Errorf("%d buffers made, want %d", got, 2*stackLen)
	}
}
