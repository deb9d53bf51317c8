package main

import (
	"context"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// result is what a window has measured. Times are in seconds, amounts in
// bytes.
type result struct {
	Go         string  `json:"go"`
	Conns      int64   `json:"conns"`
	Goroutines uint64  `json:"goroutines"`
	From       float64 `json:"from_s"` // the window, since the program's start
	To         float64 `json:"to_s"`

	Cycles    uint64  `json:"cycles"`
	Pauses    []bin   `json:"pauses"`   // stops of the world for the collector, whole
	Stopping  []bin   `json:"stopping"` // of these, the time until all had stopped
	Waiting   []bin   `json:"waiting"`  // of goroutines, runnable until running
	GCCPU     float64 `json:"gc_cpu_s"`
	AssistCPU float64 `json:"assist_cpu_s"`
	IdleCPU   float64 `json:"gc_idle_cpu_s"`
	CPU       float64 `json:"cpu_s"` // of the process, as the system has it
	Procs     int     `json:"procs"`
	RunDelay  float64 `json:"run_delay_s"` // of all threads, ready to run while other processes had the CPU

	Live     uint64 `json:"live_bytes"`
	Stacks   uint64 `json:"stack_bytes"`
	Scanned  uint64 `json:"stack_scan_bytes"`
	Globals  uint64 `json:"globals_scan_bytes"`
	Resident int64  `json:"rss_bytes"`
	Alloc    uint64 `json:"alloc_bytes"`

	Sent      int64   `json:"sent"`
	Delivered int64   `json:"delivered"`
	Dropped   int64   `json:"dropped"`
	Latency   []bin   `json:"latency"`
	Max       float64 `json:"latency_max_s"`
}

// bin is the part of a histogram up to a bound.
type bin struct {
	Upto  float64 `json:"le"`
	Count uint64  `json:"n"`
}

const (
	metricCycles     = "/gc/cycles/total:gc-cycles"
	metricPauses     = "/sched/pauses/total/gc:seconds"
	metricStopping   = "/sched/pauses/stopping/gc:seconds"
	metricWaiting    = "/sched/latencies:seconds"
	metricGC         = "/cpu/classes/gc/total:cpu-seconds"
	metricAssist     = "/cpu/classes/gc/mark/assist:cpu-seconds"
	metricIdle       = "/cpu/classes/gc/mark/idle:cpu-seconds"
	metricLive       = "/gc/heap/live:bytes"
	metricStacks     = "/memory/classes/heap/stacks:bytes"
	metricScanned    = "/gc/scan/stack:bytes"
	metricGlobals    = "/gc/scan/globals:bytes"
	metricAlloc      = "/gc/heap/allocs:bytes"
	metricGoroutines = "/sched/goroutines:goroutines"
)

// reading is all metrics at one moment.
type reading map[string]metrics.Value

func read() reading {
	names := []string{metricCycles, metricPauses, metricStopping, metricWaiting, metricGC, metricAssist, metricIdle, metricLive,
		metricStacks, metricScanned, metricGlobals, metricAlloc, metricGoroutines}
	samples := make([]metrics.Sample, len(names))
	for i, n := range names {
		samples[i].Name = n
	}
	metrics.Read(samples)
	r := reading{}
	for _, s := range samples {
		r[s.Name] = s.Value
	}
	return r
}

// measure lets the load last for a while, then a window. The runtime accounts
// for CPU time when a cycle ends, so the window begins and ends with one where
// that does not take too long.
func measure(ctx context.Context, h *hub, o options, began time.Time) (result, error) {
	if err := sleep(ctx, o.settle); err != nil {
		return result{}, err
	}
	atCycleEnd(ctx, o.seconds/2)
	h.latency.clear()
	first, from, cpu, delay := read(), time.Since(began), processCPU(), runDelay()
	sent, written, dropped := h.sent.Load(), h.written.Load(), h.dropped.Load()
	if err := sleep(ctx, o.seconds); err != nil {
		return result{}, err
	}
	atCycleEnd(ctx, o.seconds/2)
	last, to := read(), time.Since(began)
	floats := func(name string) float64 { return last[name].Float64() - first[name].Float64() }
	counts := func(name string) uint64 { return last[name].Uint64() - first[name].Uint64() }
	r := result{
		Go: runtime.Version(), Conns: h.joined.Load(), Goroutines: last[metricGoroutines].Uint64(), From: from.Seconds(), To: to.Seconds(),
		Cycles: counts(metricCycles), Pauses: between(first, last, metricPauses), Stopping: between(first, last, metricStopping),
		Waiting: between(first, last, metricWaiting),
		GCCPU:   floats(metricGC), AssistCPU: floats(metricAssist), IdleCPU: floats(metricIdle), CPU: processCPU() - cpu,
		Procs: runtime.GOMAXPROCS(0), RunDelay: runDelay() - delay,
		Live: last[metricLive].Uint64(), Stacks: last[metricStacks].Uint64(), Scanned: last[metricScanned].Uint64(),
		Globals: last[metricGlobals].Uint64(), Resident: resident(), Alloc: counts(metricAlloc),
		Sent: h.sent.Load() - sent, Delivered: h.written.Load() - written, Dropped: h.dropped.Load() - dropped,
	}
	r.Latency, r.Max = h.latency.bins()
	return r, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// atCycleEnd returns soon after the next cycle has ended, or when it has taken
// too long.
func atCycleEnd(ctx context.Context, most time.Duration) {
	cycles := []metrics.Sample{{Name: metricCycles}}
	metrics.Read(cycles)
	before := cycles[0].Value.Uint64()
	for end := time.Now().Add(most); time.Now().Before(end) && cycles[0].Value.Uint64() == before; {
		if sleep(ctx, 5*time.Millisecond) != nil {
			return
		}
		metrics.Read(cycles)
	}
}

// between is what was added to a histogram.
func between(first, last reading, name string) []bin {
	a, b := first[name].Float64Histogram(), last[name].Float64Histogram()
	var bins []bin
	for i, n := range b.Counts {
		if d := n - a.Counts[i]; d > 0 {
			bins = append(bins, bin{min(b.Buckets[i+1], 1e9), d}) // JSON has no infinity
		}
	}
	return bins
}

// processCPU is the user and system time of the process.
func processCPU() float64 {
	text, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, _ := strconv.ParseFloat(f[11], 64)
	system, _ := strconv.ParseFloat(f[12], 64)
	return (user + system) / 100
}

// runDelay is the time that the threads there are now were kept waiting for a
// CPU by the system. It falls when one ends, which those of Go seldom do.
func runDelay() float64 {
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil {
		return 0
	}
	sum := 0.0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if f := strings.Fields(string(text)); len(f) > 1 {
			ns, _ := strconv.ParseFloat(f[1], 64)
			sum += ns / 1e9
		}
	}
	return sum
}

// resident is the resident set of the process.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// histogram counts times in buckets 1/8 of their lower bound wide. The zero
// value is empty. It is safe for concurrent use.
type histogram struct {
	counts [64 << 3]atomic.Uint64
	max    atomic.Int64
}

func (h *histogram) add(d time.Duration) {
	d = max(d, 0)
	h.counts[slot(uint64(d))].Add(1)
	for {
		m := h.max.Load()
		if int64(d) <= m || h.max.CompareAndSwap(m, int64(d)) {
			return
		}
	}
}

// slot numbers the buckets: three bits below the highest tell them apart.
func slot(v uint64) int {
	shift := max(bits.Len64(v)-4, 0)
	return shift<<3 + int(v>>shift)
}

func (h *histogram) clear() {
	for i := range h.counts {
		h.counts[i].Store(0)
	}
	h.max.Store(0)
}

// bins are the buckets that are not empty, and the largest value, in seconds.
func (h *histogram) bins() ([]bin, float64) {
	var bins []bin
	for i := range h.counts {
		if n := h.counts[i].Load(); n > 0 {
			shift := max(i>>3-1, 0)
			bins = append(bins, bin{float64(uint64(i-shift<<3+1)<<shift) / 1e9, n})
		}
	}
	return bins, float64(h.max.Load()) / 1e9
}
