package pool

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// measure runs f as a sub-benchmark, and reports the processor time of the whole
// process besides the clock: that counts the collector's work on another
// processor, and not the time that other processes took.
func measure(b *testing.B, name string, f func(b *testing.B, start func())) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		from := processTime()
		f(b, func() {
			b.ResetTimer()
			from = processTime()
		})
		b.ReportMetric(float64(processTime()-from)/float64(b.N), "cpu-ns/op")
	})
}

// logUniform returns 4096 sizes from lowest to highest, as many small as large on
// a logarithmic scale.
func logUniform(lowest, highest int) []int {
	r := rand.New(rand.NewPCG(11, 7))
	sizes := make([]int, 4096)
	span := math.Log(float64(highest) / float64(lowest))
	for i := range sizes {
		sizes[i] = int(float64(lowest) * math.Exp(r.Float64()*span))
	}
	return sizes
}

// The mixed-buffer loop: 50 buffers are got and filled, then all put. One in ten
// is of 256 KiB less a byte, the others of 10 bytes.
const (
	held  = 50
	big   = 256<<10 - 1
	small = 10
)

func mixed(r *rand.Rand, big int) int {
	if r.IntN(10) == 0 {
		return big
	}
	return small
}

func BenchmarkAllocloop(b *testing.B) { allocloop(b, big) }

// BenchmarkAllocloopHalf has buffers half as large. What an op of the loop copies
// between is about 1.6 MiB, which a second-level cache of 2 MiB holds, as that of
// the machine the loop is known from; this one fits 1 MiB.
func BenchmarkAllocloopHalf(b *testing.B) { allocloop(b, big/2) }

func allocloop(b *testing.B, big int) {
	text := bytes.Repeat([]byte("how now brown cow"), 16<<10)
	fill := func(src *bytes.Reader, p []byte) {
		src.Reset(text)
		if _, err := io.ReadFull(src, p); err != nil {
			panic(err)
		}
	}
	// The floor copies as much to as few bytes as a stack of buffers would: the
	// n-th large buffer of an op is always the same one.
	floor := peer{"floor", func(int) func() user {
		var bigs, smalls [held][]byte
		for i := range bigs {
			bigs[i], smalls[i] = make([]byte, big), make([]byte, small)
		}
		var nb, ns int
		u := user{
			get: func(n int) buffer {
				if n == big {
					nb++
					return buffer{b: bigs[nb-1]}
				}
				ns++
				return buffer{b: smalls[ns-1]}
			},
			put: func(buffer) { nb, ns = 0, 0 },
		}
		return func() user { return u }
	}}
	for _, p := range append(append([]peer{floor}, ours()...), others()...) {
		worker := p.start(big)
		measure(b, p.name, func(b *testing.B, start func()) {
			u := worker()
			defer u.leave()
			var out [held]buffer
			src := bytes.NewReader(text)
			r := rand.New(rand.NewPCG(1, 2))
			start()
			for range b.N {
				for i := range out {
					out[i] = u.get(mixed(r, big))
					fill(src, out[i].b)
				}
				for i := range out {
					u.put(out[i])
					out[i] = buffer{}
				}
			}
		})
	}
}

const largest = 1 << 20

// warm is how many ops come before the clock starts where the buffers that an op needs
// depend on the ones before: until the pool knows the demand.
const warm = 20 * 4096

// own makes eight buffers of the largest size. In a crowd, all have the same ones, but
// begin at one of crowdLines lines, lest two processors write to one all the time.
func own(largest, crowd int) func() [8][]byte {
	fresh := func(size int) (own [8][]byte) {
		for i := range own {
			own[i] = make([]byte, size)
		}
		return own
	}
	if crowd == 1 {
		return func() [8][]byte { return fresh(largest) }
	}
	const line = 64
	all := sync.OnceValue(func() [8][]byte { return fresh(largest + crowdLines*line) })
	var users atomic.Int64
	return func() (own [8][]byte) {
		at := int(users.Add(1)) % crowdLines * line
		for i, b := range all() {
			own[i] = b[at : at+largest]
		}
		return own
	}
}

const crowdLines = 16

// owned is no pool: eight buffers that belong to the goroutine.
func owned(crowd int) peer {
	return peer{"floor", func(largest int) func() user {
		buffers := own(largest, crowd)
		return func() user {
			own := buffers()
			return user{
				get: func(n int) buffer { return buffer{b: own[n&7][:n]} },
				put: func(buffer) {},
			}
		}
	}}
}

// borrowed is the least that a pool costs whose caches belong to Ps: one is taken
// from a sync.Pool for each call and given back, and nothing is done with it. What
// it holds between the calls is as in owned.
func borrowed(crowd int) peer {
	return peer{"floor-borrowed", func(largest int) func() user {
		caches := sync.Pool{New: func() any { return new([64]int) }}
		buffers := own(largest, crowd)
		return func() user {
			own := buffers()
			return user{
				get: func(n int) buffer {
					c := caches.Get().(*[64]int)
					caches.Put(c)
					return buffer{b: own[n&7][:n]}
				},
				put: func(buffer) {
					c := caches.Get().(*[64]int)
					caches.Put(c)
				},
			}
		}
	}}
}

// benchmarkGetPut has each of as many goroutines as there are Ps, times crowd, hold a
// number of buffers, a power of two; an op puts the one held longest and gets another.
func benchmarkGetPut(b *testing.B, hold, crowd int) {
	sizes := logUniform(64, largest)
	for _, p := range append(append([]peer{owned(crowd), borrowed(crowd)}, ours()...), others()...) {
		// The pool is the same for the runs that find b.N, and warm in the last.
		worker := p.start(largest)
		measure(b, p.name, func(b *testing.B, start func()) {
			var workers atomic.Int64
			b.SetParallelism(crowd)
			start()
			b.RunParallel(func(pb *testing.PB) {
				u := worker()
				defer u.leave()
				out := make([]buffer, hold)
				i := int(workers.Add(1)) * 997
				for pb.Next() {
					slot := &out[i&(hold-1)]
					if slot.b != nil {
						u.put(*slot)
					}
					*slot = u.get(sizes[i&4095])
					slot.b[0] = 1
					i++
					if crowd > 1 && i&63 == 0 {
						runtime.Gosched() // or one would be through before the next begins
					}
				}
				for _, x := range out {
					if x.b != nil {
						u.put(x)
					}
				}
			})
		})
	}
}

func BenchmarkGetPut1(b *testing.B)  { benchmarkGetPut(b, 1, 1) }
func BenchmarkGetPut16(b *testing.B) { benchmarkGetPut(b, 16, 1) }

// BenchmarkGetPutCrowd has more goroutines than can have caches of their own.
func BenchmarkGetPutCrowd(b *testing.B) { benchmarkGetPut(b, 1, 64) }

// BenchmarkGetPutGC collects every 4096 ops: what has to be made again? The sizes
// recur every 4096 ops.
func BenchmarkGetPutGC(b *testing.B) {
	benchmarkGC(b, func([]int) {})
}

// BenchmarkGetPutGCShuffled has the sizes in another order in every cycle, so that
// the largest demand of a class differs from one to the next.
func BenchmarkGetPutGCShuffled(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	benchmarkGC(b, func(sizes []int) {
		r.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	})
}

// benchmarkGC calls next with the sizes before each 4096 ops.
func benchmarkGC(b *testing.B, next func(sizes []int)) {
	sizes := logUniform(64, largest)
	for _, p := range append(ours(), others()...) {
		worker := p.start(largest)
		measure(b, p.name, func(b *testing.B, start func()) {
			u := worker()
			defer u.leave()
			out := make([]buffer, 16)
			i := 0
			op := func() {
				if i&4095 == 0 {
					runtime.GC()
					next(sizes)
				}
				slot := &out[i&15]
				if slot.b != nil {
					u.put(*slot)
				}
				*slot = u.get(sizes[i&4095])
				slot.b[0] = 1
				i++
			}
			for range warm {
				op()
			}
			start()
			for range b.N {
				op()
			}
		})
	}
}

// BenchmarkProdCons gets on one goroutine and puts on another.
func BenchmarkProdCons(b *testing.B) {
	const top = 64 << 10
	sizes := logUniform(64, top)
	for _, p := range append(append([]peer{owned(1), borrowed(1)}, ours()...), others()...) {
		worker := p.start(top)
		measure(b, p.name, func(b *testing.B, start func()) {
			full, empty := make(chan []buffer, 8), make(chan []buffer, 8)
			for range 8 {
				empty <- make([]buffer, 0, 32)
			}
			var wg sync.WaitGroup
			wg.Go(func() {
				u := worker()
				defer u.leave()
				for batch := range full {
					for i := range batch {
						u.put(batch[i])
						batch[i] = buffer{}
					}
					empty <- batch[:0]
				}
			})
			u := worker()
			defer u.leave()
			batch := <-empty
			op := func(i int) {
				x := u.get(sizes[i&4095])
				x.b[0] = 1
				batch = append(batch, x)
				if len(batch) == cap(batch) {
					full <- batch
					batch = <-empty
				}
			}
			for i := range warm {
				op(i)
			}
			start()
			for i := range b.N {
				op(i)
			}
			full <- batch
			close(full)
			wg.Wait()
		})
	}
}
