// Package pool measures buffer and object pools side by side: heaptrim's and those
// that a user would pick instead, each through the same few function calls.
//
// The benchmarks are in the tests of this package. Run them by ./run, which takes
// every pool in a process of its own, in shuffled and interleaved rounds.
package pool

import (
	"bytes"
	"math/bits"
	"sync"

	"github.com/bytedance/gopkg/lang/mcache"
	"github.com/bytedance/gopkg/lang/syncx"
	"github.com/heaptrim/heaptrim/rt/pool"
	libp2p "github.com/libp2p/go-buffer-pool"
	"github.com/oxtoacart/bpool"
	prometheus "github.com/prometheus/prometheus/util/pool"
	"github.com/valyala/bytebufferpool"
	"github.com/vmihailenco/bufpool"
	grpc "google.golang.org/grpc/mem"
)

// buffer is what a pool hands out, with the handle that it wants back.
type buffer struct {
	b      []byte
	handle any
}

// user is one goroutine's view of a pool.
type user struct {
	get  func(n int) buffer
	put  func(buffer)
	done func() // nil if there is nothing to do
}

// leave is called when the goroutine does not need its view any more.
func (u user) leave() {
	if u.done != nil {
		u.done()
	}
}

// peer is one pool. start makes a fresh one, for requests of at most largest
// bytes, and returns how a goroutine gets its view.
type peer struct {
	name  string
	start func(largest int) func() user
}

// slices makes a peer of functions on plain slices, which all goroutines share.
func slices(name string, get func(int) []byte, put func([]byte)) peer {
	u := user{
		get: func(n int) buffer { return buffer{b: get(n)} },
		put: func(b buffer) { put(b.b) },
	}
	return peer{name, func(int) func() user { return func() user { return u } }}
}

// handles makes a peer of functions on slices with a handle.
func handles(name string, get func(int) buffer, put func(buffer)) peer {
	return peer{name, func(int) func() user { return func() user { return user{get: get, put: put} } }}
}

// ours are the pools of rt/pool: plain, and through an owned cache.
func ours() []peer {
	plain := func(int) func() user {
		p := new(pool.Bytes)
		return func() user {
			return user{
				get: func(n int) buffer { return buffer{b: p.Get(n)} },
				put: func(b buffer) { p.Put(b.b) },
			}
		}
	}
	local := func(int) func() user {
		p := new(pool.Bytes)
		return func() user {
			l := p.Local()
			return user{
				get:  func(n int) buffer { return buffer{b: l.Get(n)} },
				put:  func(b buffer) { l.Put(b.b) },
				done: l.Release,
			}
		}
	}
	return []peer{{"heaptrim", plain}, {"heaptrim-local", local}}
}

// others are everybody else's.
func others() []peer {
	return []peer{
		slices("make", func(n int) []byte { return make([]byte, n) }, func([]byte) {}),
		syncPool(),
		syncPoolByValue(),
		lockedFreeList(),
		buffers(),
		handles("bufpool", func(n int) buffer {
			h := bufpool.Get(n)
			return buffer{h.Bytes(), h}
		}, func(b buffer) { bufpool.Put(b.handle.(*bufpool.Buffer)) }),
		slices("libp2p", libp2p.Get, libp2p.Put),
		slices("mcache", func(n int) []byte { return mcache.Malloc(n) }, mcache.Free),
		perPBlocks(),
		tiered(),
		prometheusPool(),
		channel(),
	}
}

// syncPool is one sync.Pool for all sizes; a slice too small is replaced.
func syncPool() peer {
	var p sync.Pool
	return handles("sync.Pool", func(n int) buffer {
		h, _ := p.Get().(*[]byte)
		if h == nil {
			h = new([]byte)
		}
		if cap(*h) < n {
			*h = make([]byte, n)
		}
		return buffer{(*h)[:n], h}
	}, func(b buffer) { p.Put(b.handle) })
}

// syncPoolByValue stores the slice itself, which boxes its header on every Put.
func syncPoolByValue() peer {
	var p sync.Pool
	return slices("sync.Pool-slice", func(n int) []byte {
		b, _ := p.Get().([]byte)
		if cap(b) < n {
			b = make([]byte, n)
		}
		return b[:n]
		//lint:ignore SA6002 the mistake is the point
	}, func(b []byte) { p.Put(b) })
}

// lockedFreeList is a stack for each power of two, behind one lock.
func lockedFreeList() peer {
	var mu sync.Mutex
	var stacks [48][][]byte
	return slices("freelist+mutex", func(n int) []byte {
		k := ceilLog2(n)
		mu.Lock()
		defer mu.Unlock()
		last := len(stacks[k]) - 1
		if last < 0 {
			return make([]byte, n, 1<<k)
		}
		b := stacks[k][last]
		stacks[k] = stacks[k][:last]
		return b[:n]
	}, func(b []byte) {
		k := ceilLog2(cap(b))
		mu.Lock()
		defer mu.Unlock()
		stacks[k] = append(stacks[k], b)
	})
}

func ceilLog2(n int) int {
	return bits.Len(uint(max(n, 1) - 1))
}

func buffers() peer {
	var p bytebufferpool.Pool
	return handles("bytebufferpool", func(n int) buffer {
		h := p.Get()
		if cap(h.B) < n {
			h.B = make([]byte, n)
		}
		h.B = h.B[:n]
		return buffer{h.B, h}
	}, func(b buffer) { p.Put(b.handle.(*bytebufferpool.ByteBuffer)) })
}

// perPBlocks is bytedance's pool that pins the goroutine to its P by linkname, one
// for each power of two.
func perPBlocks() peer {
	var classes [48]syncx.Pool
	return handles("syncx", func(n int) buffer {
		k := ceilLog2(n)
		h, _ := classes[k].Get().(*[]byte)
		if h == nil {
			b := make([]byte, n, 1<<k)
			h = &b
		}
		return buffer{(*h)[:n], h}
	}, func(b buffer) { classes[ceilLog2(cap(b.b))].Put(b.handle) })
}

// tiered is gRPC's pool with a tier for each power of two. It clears what it hands
// out again.
func tiered() peer {
	var exponents []uint8
	for e := uint8(6); e <= 21; e++ {
		exponents = append(exponents, e)
	}
	p, err := grpc.NewBinaryTieredBufferPool(exponents...)
	if err != nil {
		panic(err)
	}
	return handles("grpc", func(n int) buffer {
		h := p.Get(n)
		return buffer{*h, h}
	}, func(b buffer) { p.Put(b.handle.(*[]byte)) })
}

func prometheusPool() peer {
	p := prometheus.New(64, 1<<21, 2, func(n int) any { return make([]byte, 0, n) })
	return slices("prometheus", func(n int) []byte { return p.Get(n).([]byte)[:n] }, func(b []byte) { p.Put(b) })
}

// channel is a pool of buffers in a channel, all of the largest size.
func channel() peer {
	return peer{"bpool", func(largest int) func() user {
		p := bpool.NewSizedBufferPool(64, largest)
		u := user{
			get: func(n int) buffer {
				h := p.Get()
				h.Grow(n)
				return buffer{h.AvailableBuffer()[:n], h}
			},
			put: func(b buffer) { p.Put(b.handle.(*bytes.Buffer)) },
		}
		return func() user { return u }
	}}
}
