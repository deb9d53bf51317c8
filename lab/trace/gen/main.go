// Command gen writes a real execution trace of a requested size: it traces
// itself while it works over a live heap that makes marking take its time.
//
//	gen -size 800 [-work requests] -o big.trace
//
// There are three kinds of work:
//
//   - requests: servers and clients over channels, with tasks, regions, timers
//     and system calls, and under pressure to assist;
//   - http: a server of JSON over HTTP and its clients, on loopback;
//   - channels: goroutines that hand buffers on, so that nearly all events are
//     those of goroutines that block and start, of 5 to 6 bytes each.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/trace"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	var s server
	size := flag.Int64("size", 16, "`MB` of trace, at least")
	out := flag.String("o", "", "`file` to write")
	flag.DurationVar(&s.atLeast, "for", 0, "how `long` to run at least")
	flag.DurationVar(&s.rest, "rest", 0, "`pause` of a client after each request")
	gogc := flag.Int("gogc", 50, "GOGC while tracing")
	work := flag.String("work", "requests", "`kind` of work: requests, http or channels")
	flag.IntVar(&s.clients, "clients", 64, "clients that send requests; there are as many servers")
	flag.IntVar(&s.live, "live", 300_000, "nodes in the live heap")
	flag.Parse()
	start := map[string]func(*sync.WaitGroup) error{"requests": s.requests, "http": s.http, "channels": s.channels}[*work]
	if *out == "" || flag.NArg() > 0 || start == nil {
		flag.Usage()
		os.Exit(2)
	}
	debug.SetGCPercent(*gogc)
	if err := s.record(*out, *size<<20, start); err != nil {
		log.Fatal(err)
	}
}

// server is the program that is traced.
type server struct {
	clients, live int
	atLeast, rest time.Duration

	null  *os.File
	mu    sync.Mutex
	cache map[uint64]*node
	stop  atomic.Bool
	sink  atomic.Uint64

	failed atomic.Pointer[error] // why a client gave up
}

// fail keeps the first failure.
func (s *server) fail(err error) { s.failed.CompareAndSwap(nil, &err) }

type node struct {
	next  *node
	value [4]uint64
}

// record runs the work under trace until the file at path has size bytes.
func (s *server) record(path string, size int64, start func(*sync.WaitGroup) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	if s.null, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		return err
	}
	defer s.null.Close()
	s.fill()
	w := &countingWriter{w: f}
	if err := trace.Start(w); err != nil {
		return err
	}
	var wg sync.WaitGroup
	if err := start(&wg); err != nil {
		return err
	}
	time.Sleep(s.atLeast)
	for w.n.Load() < size && s.failed.Load() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	s.stop.Store(true)
	wg.Wait()
	trace.Stop()
	if err := s.failed.Load(); err != nil {
		return *err
	}
	fmt.Printf("%s: %d bytes, checksum %d\n", path, w.n.Load(), s.sink.Load())
	return nil
}

func (s *server) fill() {
	s.cache = make(map[uint64]*node, s.live)
	var last *node
	for i := range s.live {
		last = &node{next: last}
		s.cache[uint64(i)] = last
	}
}

// requests starts clients that send requests over channels, and servers.
func (s *server) requests(wg *sync.WaitGroup) error {
	for i := range s.clients {
		requests := make(chan request)
		wg.Go(func() { s.serve(requests) })
		wg.Go(func() { s.client(uint64(i), requests) })
	}
	return nil
}

type request struct {
	ctx   context.Context
	key   uint64
	reply chan uint64
}

// client sends requests, one task each, and now and then rests.
func (s *server) client(seed uint64, out chan<- request) {
	defer close(out)
	random := rand.New(rand.NewPCG(seed, 1))
	reply := make(chan uint64)
	for !s.stop.Load() {
		ctx, task := trace.NewTask(context.Background(), [...]string{"order", "search", "report"}[random.IntN(3)])
		out <- request{ctx, random.Uint64(), reply}
		s.sink.Add(<-reply)
		task.End()
		switch {
		case s.rest > 0:
			time.Sleep(s.rest)
		case random.IntN(512) == 0:
			time.Sleep(time.Millisecond)
		}
	}
}

// serve answers requests: each allocates short-lived buffers, and some replace
// a part of what is live.
func (s *server) serve(in <-chan request) {
	for r := range in {
		var sum uint64
		trace.WithRegion(r.ctx, "decode", func() { sum = decode(r.key) })
		trace.WithRegion(r.ctx, "update", func() { sum += s.update(r.key) })
		if r.key%16 == 0 {
			fmt.Fprintln(s.null, sum) // a system call
		}
		r.reply <- sum
	}
}

func decode(key uint64) uint64 {
	var sum uint64
	for i := range 8 {
		b := make([]byte, 256+int(key>>uint(8*i)&1023))
		b[len(b)/2] = byte(key)
		sum += uint64(b[len(b)/2]) + uint64(len(b))
	}
	return sum
}

func (s *server) update(key uint64) uint64 {
	var list *node
	for i := range 12 {
		list = &node{next: list, value: [4]uint64{key, uint64(i)}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k := key % uint64(s.live)
	old := s.cache[k]
	s.cache[k] = list
	return old.value[0]
}

// countingWriter knows how much went to w.
type countingWriter struct {
	w io.Writer
	n atomic.Int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n.Add(int64(n))
	return n, err
}
