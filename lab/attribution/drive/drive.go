// Package drive runs the operations of a ground-truth program: on every CPU
// for the measurement, so that little is left for idle marking, and one after
// the other for the checksum that both versions of the program must share.
package drive

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// Op does operation number i and returns a digest of its result. It is called
// from one goroutine at a time. What it returns depends on i alone for an Op
// without state, and on the sequence of calls for one with state.
type Op func(i int) uint64

// Units of the totals that Bench reports beside the usual figures. They cover
// the operations of one call of the benchmark function, not its set-up.
const (
	UnitCPU    = "cpu-ns/run"  // user and system time of the process
	UnitIdle   = "idle-ns/run" // of it, marking on CPUs that were otherwise idle
	UnitGC     = "gc-ns/run"   // of it, the collector without idle marking, as the runtime accounts for it
	UnitCycles = "cycles/run"  // collections, forced ones not counted
)

// WarmUp is the environment variable that tells how many operations Bench runs
// before its clocks start, as a share of those that it measures. Meanwhile the heap grows
// to its goal: on the way there each page of it is a page fault, once, and
// that is no cost of the operations.
const WarmUp = "ATTRIBUTION_WARM_UP"

// Bench runs operations on GOMAXPROCS goroutines. newOp is called once per
// goroutine with its number, counted from 0, before its first operation.
func Bench(b *testing.B, newOp func(worker int) Op) {
	b.Helper()
	b.ReportAllocs()
	if share, err := strconv.ParseFloat(os.Getenv(WarmUp), 64); err == nil {
		warmUp(int64(share*float64(b.N)), newOp)
	}
	var workers atomic.Int32
	var digest atomic.Uint64
	before := read()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		worker := int(workers.Add(1)) - 1
		op := newOp(worker)
		var sum uint64
		// The offset makes the workers walk through different inputs.
		for i := worker * 7919; pb.Next(); i++ {
			sum = Mix(sum, op(i))
		}
		digest.Add(sum)
	})
	b.StopTimer()
	after := read()
	b.ReportMetric(float64(after.cpu-before.cpu), UnitCPU)
	b.ReportMetric((after.idle-before.idle)*1e9, UnitIdle)
	b.ReportMetric((after.gc-before.gc)*1e9, UnitGC)
	b.ReportMetric(float64(after.cycles-before.cycles), UnitCycles)
	if digest.Load() == 0 {
		b.Error("no operation returned a digest")
	}
}

// warmUp runs n operations on GOMAXPROCS goroutines.
func warmUp(n int64, newOp func(worker int) Op) {
	var left atomic.Int64
	left.Store(n)
	var wg sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			op := newOp(worker)
			for i := worker * 7919; left.Add(-1) >= 0; i++ {
				op(i)
			}
		})
	}
	wg.Wait()
}

// Checksum runs n operations in order and prints their joint digest on a line
// "checksum HEX", which the runner compares between the two versions.
func Checksum(t *testing.T, n int, op Op) {
	t.Helper()
	var sum uint64
	for i := range n {
		sum = Mix(sum, op(i))
	}
	fmt.Printf("checksum %016x\n", sum)
}

// Mix folds v into the digest h.
func Mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// reading is the state of the process's counters. The runtime brings idle and
// gc up to date when a collection ends.
type reading struct {
	cpu      int64   // nanoseconds
	idle, gc float64 // seconds
	cycles   uint64
}

func read() reading {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/gc/cycles/automatic:gc-cycles"},
	}
	metrics.Read(s)
	idle := s[0].Value.Float64()
	return reading{processCPU(), idle, s[1].Value.Float64() - idle, s[2].Value.Uint64()}
}

// Totals prints what the process has used so far, as Bench reports it.
func Totals(w io.Writer) {
	r := read()
	fmt.Fprintf(w, "%d %s %.0f %s %.0f %s %d %s\n", r.cpu, UnitCPU, r.idle*1e9, UnitIdle, r.gc*1e9, UnitGC, r.cycles, UnitCycles)
}
