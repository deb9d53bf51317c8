// A program for the tests: it does one thing too much, by its argument, for a
// second or so of processor time, and writes what a recording holds into the working directory:
// cpu.pprof and metrics.jsonl. The collector's log goes to standard error.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	_ "unsafe" // for the period of periodic collections
)

type node struct {
	next *node
	pad  [6]int
}

var (
	keep    any
	sink    []byte
	sinks   [64]*node
	settled []*node
)

//go:linkname forcegcperiod runtime.forcegcperiod
var forcegcperiod int64

func main() {
	modes := map[string]func(stop func() bool){
		"clean": clean, "finalizers": finalizers, "cleanups": cleanups, "backlog": backlog,
		"stack-scan": stackScan, "stack-growth": stackGrowth, "stack-shrink": stackShrink,
		"forced": forced, "periodic": periodic, "tiny": tiny, "limiter": limiter, "workers": workers, "refault": refault, "huge-pages": hugePages,
	}
	run, ok := modes[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "unknown mode", os.Args[1])
		os.Exit(2)
	}
	length, err := time.ParseDuration(os.Args[2])
	check(err)
	if os.Args[1] == "clean" || os.Args[1] == "forced" {
		ballast()
	}
	profile, err := os.Create("cpu.pprof")
	check(err)
	check(pprof.StartCPUProfile(profile))
	done := sample()
	var over atomic.Bool
	go func() {
		for start := time.Now(); !over.Load(); time.Sleep(5 * time.Millisecond) {
			// By processor time, so that a busy machine makes it no less; what
			// sleeps ends by the clock.
			elapsed := time.Since(start)
			over.Store(used() > length || elapsed > 40*length || os.Args[1] == "periodic" && elapsed > length)
		}
	}()
	run(over.Load)
	done()
	pprof.StopCPUProfile()
	check(profile.Close())
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// used is the processor time of the process.
func used() time.Duration {
	var r syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// sample writes runtime/metrics every 20 ms until the function that it returns
// is called.
func sample() func() {
	out, err := os.Create("metrics.jsonl")
	check(err)
	var list []metrics.Sample
	for _, d := range metrics.All() {
		if d.Kind == metrics.KindUint64 || d.Kind == metrics.KindFloat64 {
			list = append(list, metrics.Sample{Name: d.Name})
		}
	}
	start := time.Now()
	write := func() {
		metrics.Read(list)
		values := map[string]float64{}
		for _, s := range list {
			if s.Value.Kind() == metrics.KindUint64 {
				values[s.Name] = float64(s.Value.Uint64())
			} else {
				values[s.Name] = s.Value.Float64()
			}
		}
		check(json.NewEncoder(out).Encode(map[string]any{"t_ns": time.Since(start), "v": values}))
	}
	write()
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for t := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-t.C:
				write()
			case <-stop:
				write()
				check(out.Close())
				return
			}
		}
	}()
	return func() { close(stop); <-stopped }
}

// ballast is a live heap that is worth collecting for.
func ballast() {
	for range 500_000 {
		settled = append(settled, &node{})
	}
}

// work computes, so that whatever a mode does is not all that the program does.
//
//go:noinline
func work(n int) int {
	x := uint64(n) | 1
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return int(x >> 60)
}

func clean(stop func() bool) {
	for i := 0; !stop(); i++ {
		sinks[i%len(sinks)] = &node{}
		work(1000)
	}
}

func finalizers(stop func() bool) {
	for i := 0; !stop(); i++ {
		n := &node{}
		runtime.SetFinalizer(n, func(*node) { work(50) })
		sinks[i%len(sinks)] = n
		work(200)
	}
}

func cleanups(stop func() bool) {
	for i := 0; !stop(); i++ {
		n := &node{}
		runtime.AddCleanup(n, func(x int) { work(x) }, 50)
		sinks[i%len(sinks)] = n
		work(200)
	}
}

func backlog(stop func() bool) {
	for i := 0; !stop(); i++ {
		n := &node{}
		runtime.SetFinalizer(n, func(*node) { time.Sleep(time.Millisecond) })
		sinks[i%len(sinks)] = n
		work(500)
	}
}

// deep uses a stack of some KiB for each level, and then calls f.
//
//go:noinline
func deep(levels int, f func()) byte {
	var frame [1024]byte
	if levels == 0 {
		f()
		return frame[0]
	}
	frame[levels] = deep(levels-1, f)
	return frame[levels/2]
}

func stackScan(stop func() bool) {
	var ready sync.WaitGroup
	release := make(chan bool)
	ready.Add(5000)
	for range 5000 {
		go walk(30, func() { ready.Done(); <-release })
	}
	ready.Wait()
	for i := 0; !stop(); i++ {
		sinks[i%len(sinks)] = &node{}
		work(20)
	}
	close(release)
}

// walk has a frame of pointers for each level.
//
//go:noinline
func walk(levels int, f func()) *node {
	a, b := &node{}, &node{}
	if levels == 0 {
		f()
	} else {
		a.next = walk(levels-1, f)
	}
	b.next = a
	return b
}

func stackGrowth(stop func() bool) {
	for !stop() {
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { deep(40, func() { work(2000) }) })
		}
		group.Wait()
	}
}

func stackShrink(stop func() bool) {
	var group sync.WaitGroup
	for range 400 {
		group.Go(func() {
			for !stop() {
				deep(60, func() {})
				time.Sleep(3 * time.Millisecond)
			}
		})
	}
	for i := 0; !stop(); i++ {
		sinks[i%len(sinks)] = &node{}
		work(10)
	}
	group.Wait()
}

func forced(stop func() bool) {
	for i := 0; !stop(); i++ {
		if i%50 == 0 {
			runtime.GC()
		}
		work(100_000)
	}
}

func periodic(stop func() bool) {
	forcegcperiod = int64(50 * time.Millisecond)
	ballast()
	for !stop() {
		time.Sleep(5 * time.Millisecond)
	}
}

func tiny(stop func() bool) {
	for i := 0; !stop(); i++ {
		sinks[i%len(sinks)] = &node{}
		sink = make([]byte, 1000)
	}
}

func limiter(stop func() bool) {
	runtime.GOMAXPROCS(1) // or the other Ps, idle, count as time for the program
	ballast()
	ballast()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(20 << 20)
	for i := 0; !stop(); i++ {
		sinks[i%len(sinks)] = &node{}
	}
}

func workers(stop func() bool) {
	runtime.GOMAXPROCS(8 * runtime.NumCPU())
	ballast()
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := 0; !stop(); i++ {
				sinks[(16*g+i%16)%len(sinks)] = &node{}
				work(50)
			}
		})
	}
	group.Wait()
}

func refault(stop func() bool) {
	const page = 4096
	for n := 0; !stop(); n++ {
		sink = make([]byte, 32<<20)
		for i := 0; i < len(sink); i += page {
			sink[i] = 1
		}
		if n%8 == 0 {
			time.Sleep(30 * time.Millisecond) // longer than the sampler's tick: it sees the memory in use
		}
		sink = nil
		debug.FreeOSMemory()
	}
}
