package pool_test

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/heaptrim/heaptrim/rt/pool"
)

// soakTime is how long TestSoak runs: seconds, or as long as HEAPTRIM_SOAK says, 1h
// for one.
func soakTime(t *testing.T) time.Duration {
	t.Helper()
	if s := os.Getenv("HEAPTRIM_SOAK"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatalf("HEAPTRIM_SOAK: %v", err)
		}
		return d
	}
	if testing.Short() {
		return 300 * time.Millisecond
	}
	return 3 * time.Second
}

// soak is what the workers of TestSoak share.
type soak struct {
	bytes   pool.Bytes
	objects pool.Of[[64]uint64]
	values  pool.Values[[]uint64]
	passed  chan []byte // from one worker to whoever comes next
	until   time.Time
}

// TestSoak has workers get and put buffers, objects and values of all kinds, pass
// them on to each other, and come and go, while the collector runs. Each marks what
// it holds, and looks whether the mark is there when it is done.
func TestSoak(t *testing.T) {
	s := &soak{passed: make(chan []byte, 64), until: time.Now().Add(soakTime(t))}
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; time.Now().Before(s.until); i++ {
			runtime.GC()
			burst(s.bytes.Get, s.bytes.Put, 1+i%64, 128<<10)
		}
	})
	for worker := range uint64(6) {
		wg.Go(func() {
			for life := uint64(0); time.Now().Before(s.until) && !t.Failed(); life++ {
				done := make(chan struct{})
				go func() { // another goroutine each time, perhaps on another P
					defer close(done)
					s.live(t, worker<<32|life)
				}()
				<-done
			}
		})
	}
	wg.Wait()
	close(s.passed)
	for b := range s.passed {
		s.bytes.Put(b)
	}
	if n := s.bytes.Check() + s.objects.Check(); n != 0 {
		t.Errorf("%d buffers were written to while in the pool", n)
	}
	if held := s.bytes.Stats().HeldBytes; held < 0 || held > 512<<20 {
		t.Errorf("%d bytes held", held)
	}
}

// live is what a worker does before another goroutine takes its place.
func (s *soak) live(t *testing.T, id uint64) {
	r := rand.New(rand.NewPCG(id, 3))
	l := s.bytes.Local()
	defer l.Release()
	get, put := s.bytes.Get, s.bytes.Put
	if id%2 == 0 {
		get, put = l.Get, l.Put
	}
	var held [][]byte
	for range 500 {
		if len(held) < 40 && r.IntN(2) == 0 {
			b := get(8 + int(uint(8)<<r.IntN(14)) + r.IntN(64))
			mark(b, id)
			held = append(held, b)
			continue
		}
		if len(held) > 0 {
			i := r.IntN(len(held))
			b := held[i]
			held[i], held = held[len(held)-1], held[:len(held)-1]
			verify(t, b, id)
			s.pass(b, put)
		}
		s.typed(t, id)
	}
	for _, b := range held {
		verify(t, b, id)
		put(b)
	}
}

// pass has another worker put b, if one will, and puts what came instead.
func (s *soak) pass(b []byte, put func([]byte)) {
	select {
	case s.passed <- b:
	default:
		put(b)
		put(<-s.passed)
	}
}

func (s *soak) typed(t *testing.T, id uint64) {
	o, v := s.objects.Get(), s.values.Get()
	v = append(v[:0], id, id)
	for i := range o {
		o[i] = id
	}
	runtime.Gosched()
	if o[0] != id || o[63] != id || v[0] != id || v[1] != id {
		t.Error("an object or value has two owners")
	}
	s.objects.Put(o)
	s.values.Put(v)
}

// mark writes id at both ends of b; verify looks for it.
func mark(b []byte, id uint64) {
	binary.LittleEndian.PutUint64(b, id)
	binary.LittleEndian.PutUint64(b[len(b)-8:], id)
}

func verify(t *testing.T, b []byte, id uint64) {
	t.Helper()
	if first, last := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[len(b)-8:]); first != id || last != id {
		t.Errorf("a buffer of %d bytes marked %x holds %x and %x", len(b), id, first, last)
	}
}
