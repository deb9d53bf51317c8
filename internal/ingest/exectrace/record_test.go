package exectrace_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"testing"
	"time"
)

// recordTrace traces a fraction of a second of goroutines that allocate, take
// turns, and are pressed to assist.
func recordTrace(t testing.TB) []byte { return recordTraceFor(t, 0) }

// recordTraceFor is recordTrace over and over, for a while.
func recordTraceFor(t testing.TB, long time.Duration) []byte {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	live := make([]*[64]*int, 20_000)
	for i := range live {
		live[i] = new([64]*int)
	}
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	for start := time.Now(); ; {
		takeTurns(live)
		if time.Since(start) >= long {
			break
		}
	}
	trace.Stop()
	runtime.KeepAlive(live)
	return b.Bytes()
}

func takeTurns(live []*[64]*int) {
	var wg sync.WaitGroup
	turns := make(chan int)
	for i := range 8 {
		wg.Go(func() {
			for range 300 {
				ctx, task := trace.NewTask(context.Background(), "turn")
				trace.WithRegion(ctx, "allocate", func() {
					for range 20 {
						live[i] = new([64]*int)
						_ = append([]byte(nil), make([]byte, 4000)...)
					}
				})
				turns <- 1
				task.End()
			}
		})
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	for range 8 * 300 {
		<-turns
	}
	wg.Wait()
}

// recordEverything traces, over two generations and more, what makes events of
// many kinds: system calls that block and that do not, coroutines, the network,
// timers, locks, threads of their own, messages, forced collections, and a CPU
// profile.
func recordEverything(t testing.TB) []byte {
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		defer pprof.StopCPUProfile()
	}
	if err := trace.Start(&b); err != nil {
		t.Skipf("cannot trace: %v", err)
	}
	var wg sync.WaitGroup
	until := time.Now().Add(1500 * time.Millisecond)
	again := func(f func()) {
		wg.Go(func() {
			for time.Now().Before(until) {
				f()
				time.Sleep(2 * time.Millisecond) // a few events of each kind will do
			}
		})
	}
	again(func() { _, _ = os.Stat(os.TempDir()) })
	again(func() {
		r, w, err := os.Pipe()
		if err != nil {
			return
		}
		defer r.Close()
		go func() { time.Sleep(time.Millisecond); w.Close() }()
		_, _ = io.Copy(io.Discard, r)
	})
	again(func() {
		next, stop := iter.Pull(func(yield func(int) bool) {
			for i := range 10 {
				if !yield(i) {
					return
				}
			}
		})
		for range 7 {
			next()
		}
		stop()
	})
	again(func() { exchange() })
	again(func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		time.Sleep(2 * time.Millisecond)
	})
	again(func() {
		ctx, task := trace.NewTask(context.Background(), "task")
		defer task.End()
		trace.Log(ctx, "category", fmt.Sprint("message ", time.Now().UnixNano()))
		defer trace.StartRegion(ctx, "outer").End()
		trace.WithRegion(ctx, "inner", runtime.Gosched)
	})
	again(func() { runtime.GC(); runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)); time.Sleep(20 * time.Millisecond) })
	wg.Wait()
	trace.Stop()
	return b.Bytes()
}

// exchange sends a few bytes over loopback.
func exchange() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			c.Close()
		}
	}()
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		_, _ = c.Write([]byte("hello"))
		_, _ = io.ReadFull(c, make([]byte, 5))
		c.Close()
	}
}
